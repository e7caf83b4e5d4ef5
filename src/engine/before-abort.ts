/** Waits for what does not hear of `signal`. @throws its reason, as soon as it is aborted; what comes then is lost. */
export async function beforeAbort<Value>(awaited: Promise<Value>, signal: AbortSignal): Promise<Value> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const leave = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", leave, { once: true });
  try {
    return await Promise.race([awaited, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", leave);
  }
}
