import type { EngineSession } from "./engine.ts";

/**
 * An engine that is being started anyway, for one caller. If that one leaves before it is there, it is for others.
 * @throws EngineFailure of the start, or the reason of `signal`.
 */
export async function shareStart(
  started: Promise<EngineSession>,
  signal: AbortSignal,
  giveBack: (session: EngineSession) => void,
): Promise<EngineSession> {
  const left = Promise.withResolvers<never>();
  const leave = () => left.reject(signal.reason);
  signal.addEventListener("abort", leave, { once: true });
  try {
    signal.throwIfAborted();
    return await Promise.race([started, left.promise]);
  } catch (error) {
    started.then(giveBack, () => {});
    throw error;
  } finally {
    signal.removeEventListener("abort", leave);
  }
}
