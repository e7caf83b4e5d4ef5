import { durationText } from "../../text/plain-text.ts";

/** Progress through a long input: ` (31 %, 12 min left)`. */
export interface TimeLeft {
  /** Empty while the pace is unknown. @param done in the unit of the input */
  textAt(done: number): string;
}

/** The share of the input that must be done before its pace is known. */
const shareMin = 0.01;

/** @param total length of the input; 0 if unknown */
export function createTimeLeft(total: number, now: () => number = () => performance.now()): TimeLeft {
  // Games of an earlier run are skipped at once: the pace counts from the first game that is reviewed.
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
