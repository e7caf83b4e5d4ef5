import { setImmediate } from "node:timers/promises";

/** Resolves when its caller may do a piece of its work. Rejects with what the work's check throws. */
export type Turn = () => Promise<void>;

/**
 * Begins a work: each of its pieces is to be begun when its turn has come.
 *
 * @param check is asked before each slice, and throws when the work is not worth going on with.
 */
export type BeginWork = (check?: () => void) => Turn;

/**
 * How long one work may take the thread in a turn of the event loop, in milliseconds: with the piece that goes over it,
 * less than the 3 ms that nobody may hold the others up.
 */
const sliceMs = 1;

/**
 * Slices of the thread for works of many pieces, one slice in each turn of the event loop, whoever they are for: pieces
 * that wait for nothing would else run in one go, and nobody else would be served meanwhile. A work keeps its slice
 * until that is used up, so that little of many works is in memory half done.
 */
export function createTimeSlicer(now: () => number = () => performance.now()): BeginWork {
  let lastSlice: Promise<void> = Promise.resolve();

  function nextSlice(): Promise<void> {
    lastSlice = lastSlice.then(() => setImmediate());
    return lastSlice;
  }

  return (check) => {
    let lastTurn: Promise<void> = Promise.resolve();
    let endsAt = Number.NEGATIVE_INFINITY;

    // Asked when the piece before has been begun, which may have used the slice up.
    async function begin(): Promise<void> {
      if (now() >= endsAt) {
        await nextSlice();
        endsAt = now() + sliceMs;
        check?.();
      }
    }

    return () => {
      lastTurn = lastTurn.then(begin);
      return lastTurn;
    };
  };
}

/** Runs what yields between its pieces to its end, each piece in its turn. */
export async function inTurns<T>(pieces: Generator<void, T>, turn: Turn): Promise<T> {
  for (;;) {
    await turn();
    const piece = pieces.next();
    if (piece.done) {
      return piece.value;
    }
  }
}

/** Runs what yields between its pieces in one go: for what is short, or where nobody else is served. */
export function inOneGo<T>(pieces: Generator<void, T>): T {
  let piece = pieces.next();
  while (!piece.done) {
    piece = pieces.next();
  }
  return piece.value;
}

/** Tells whether the thread is so busy that everybody waits for it. */
export interface EventLoopLag extends Disposable {
  /**
   * Whether it has been late at every look for a while: then there is a line, and whatever joins it makes it longer. To be
   * asked for each request: nobody looks where nobody asks.
   */
  isLasting(): boolean;
}

export interface EventLoopLagOptions {
  readonly now?: () => number;
  /** Share of the time since it was last asked for which the thread was busy. */
  readonly busyShare?: () => number;
  /** How often to look, in milliseconds. */
  readonly everyMs?: number;
  /** Half of what a probe may take. */
  readonly lateMs?: number;
  /** How long it must have been late: a pause of the garbage collector or of the whole machine is no line. */
  readonly lastingMs?: number;
  /** At how many looks it must have been late: where the whole machine stands still, two can be seconds apart. */
  readonly lastingLooks?: number;
}

/** How often it is asked whether the thread is busy, in milliseconds, and from what share of them on it is. */
const busyEveryMs = 100;
const busyFrom = 0.5;

/**
 * Watches the event loop by a timer that should fire in time. As CoDel does with the delay of packets (RFC 8289), it
 * looks at the least delay of a while and not at the greatest: one long wait says nothing, many without a short one do.
 *
 * The timer begins when the thread is busy for half of the time: whose own work makes it late at every look is busy for most of it. Who
 * is late for want of a processor alone has no line. It would wake the process fifty times a second, which took nearly all of what a
 * service took that nobody asked anything.
 */
export function createEventLoopLag({
  now = () => performance.now(),
  busyShare = createBusyShare(),
  everyMs = 20,
  lateMs = 50,
  lastingMs = 500,
  lastingLooks = 5,
}: EventLoopLagOptions = {}): EventLoopLag {
  let timer: NodeJS.Timeout | undefined;
  let askedAt = now();
  let dueAt = 0;
  let lateSince: number | undefined;
  let lateLooks = 0;
  let lastLook = 0;

  /** Undefined where that was asked a moment ago. */
  function isBusy(at: number): boolean | undefined {
    if (at - askedAt < busyEveryMs) {
      return undefined;
    }
    askedAt = at;
    return busyShare() >= busyFrom;
  }

  function look(): void {
    lastLook = now();
    // Counted from the first late look, and not from when it was due: what came before may have been one long wait.
    const isLate = lastLook - dueAt >= lateMs;
    lateSince = isLate ? (lateSince ?? lastLook) : undefined;
    lateLooks = isLate ? lateLooks + 1 : 0;
    dueAt = lastLook + everyMs;
    if (!isLate && isBusy(lastLook) === false) {
      stop();
    }
  }

  function stop(): void {
    clearInterval(timer);
    timer = undefined;
    lateSince = undefined;
    lateLooks = 0;
  }

  return {
    isLasting() {
      if (timer === undefined) {
        const at = now();
        if (isBusy(at)) {
          dueAt = at + everyMs;
          timer = setInterval(look, everyMs).unref();
        }
      }
      return lateSince !== undefined && lateLooks >= lastingLooks && lastLook - lateSince > lastingMs;
    },
    [Symbol.dispose]: stop,
  };
}

/** Asks for the share of the time since it last did for which the thread was busy: not asleep until something happens. */
export function createBusyShare(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const current = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(current, last);
    last = current;
    return utilization;
  };
}
