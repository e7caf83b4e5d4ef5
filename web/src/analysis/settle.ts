/** How long a position is on the board before it is asked about, in milliseconds. */
const settleMs = 600;

/** The same for somebody who looks at many positions: then there are fewer calls than any plan allows in a minute. */
const busyMs = 1300;
const manyCalls = 20;
const minuteMs = 60_000;

/** How long to wait until a new position is asked about, after the calls that were made so far. */
export function settleMsAfter(calls: readonly number[], now: number): number {
  return calls.filter((at) => now - at < minuteMs).length < manyCalls ? settleMs : busyMs;
}
