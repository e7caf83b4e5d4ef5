/** Tells whether the thread is so busy that everybody waits for it. */
export interface EventLoopLag extends Disposable {
  /** Whether it has been late at every look for a while: then there is a line, and whatever joins it makes it longer. */
  isLasting(): boolean;
}

export interface EventLoopLagOptions {
  readonly now?: () => number;
  /** How often to look, in milliseconds. */
  readonly everyMs?: number;
  /** Half of what a probe may take. */
  readonly lateMs?: number;
  /** How long it must have been late: a pause of the garbage collector or of the whole machine is no line. */
  readonly lastingMs?: number;
}

/**
 * Watches the event loop by a timer that should fire in time. As CoDel does with the delay of packets (RFC 8289), it
 * looks at the least delay of a while and not at the greatest: one long wait says nothing, many without a short one do.
 */
export function createEventLoopLag({
  now = () => performance.now(),
  everyMs = 20,
  lateMs = 50,
  lastingMs = 500,
}: EventLoopLagOptions = {}): EventLoopLag {
  let dueAt = now() + everyMs;
  let lateSince: number | undefined;
  let lastLook = dueAt;

  const timer = setInterval(() => {
    lastLook = now();
    // Counted from the first late look, and not from when it was due: what came before may have been one long wait.
    lateSince = lastLook - dueAt < lateMs ? undefined : (lateSince ?? lastLook);
    dueAt = lastLook + everyMs;
  }, everyMs);
  timer.unref();

  return {
    isLasting: () => lateSince !== undefined && lastLook - lateSince > lastingMs,
    [Symbol.dispose]: () => clearInterval(timer),
  };
}
