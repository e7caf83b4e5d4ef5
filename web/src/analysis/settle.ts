/** The delay before the search of a new position, in milliseconds. */
const settleMs = 600;

/** The delay after {@link manyCalls} searches in a minute, in milliseconds. Keeps the page below 60 searches a minute. */
const busyMs = 1300;
const manyCalls = 20;
const minuteMs = 60_000;

/** `calls` contains the times of earlier searches in milliseconds. */
export function settleMsAfter(calls: readonly number[], now: number): number {
  return calls.filter((at) => now - at < minuteMs).length < manyCalls ? settleMs : busyMs;
}
