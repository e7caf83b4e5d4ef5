import { durationText } from "../../text/plain-text.ts";

/** How much of a long input is done, and how long the rest will take at this pace: ` (31 %, 12 min left)`. */
export interface TimeLeft {
  /** @param done of the input, in its unit; empty where nothing can be said yet. */
  textAt(done: number): string;
}

/** Below this share of the input, its pace is a guess. */
const shareMin = 0.01;

/** @param total of the input; 0 if nobody knows */
export function createTimeLeft(total: number, now: () => number = () => performance.now()): TimeLeft {
  // What an earlier run has done is passed over in no time: the pace counts from where the work begins.
  let first: { readonly done: number; readonly at: number } | undefined;
  return {
    textAt(done) {
      first ??= { done, at: now() };
      const worked = done - first.done;
      if (total <= 0 || worked < total * shareMin) {
        return "";
      }
      const leftMs = ((now() - first.at) / worked) * Math.max(0, total - done);
      return ` (${Math.min(99, Math.floor((done / total) * 100))} %, ${durationText(leftMs / 1000)} left)`;
    },
  };
}
