import { restMs } from "../analysis/expected-time.ts";
import { KibitzError } from "../errors/errors.ts";
import type { RequestOutcome } from "../request/context.ts";
import { durationText } from "../text/plain-text.ts";
import type { Account } from "./account.ts";

/**
 * Batches and reviews under way on this node, by caller. A caller has as many as its plan has searches at a time, because each
 * keeps its request in memory while it waits. They may use all searches of the plan, so a single request takes its turn
 * between theirs, and is not refused for as long as they last.
 */
export interface LongCalls {
  /** Subjects of the callers that have one. */
  readonly callers: { has(subject: string): boolean };
  /**
   * Takes a place for a call until it is disposed of. A call that has its place already, because it was admitted before its
   * body was read, keeps that one.
   *
   * @throws KibitzError `concurrency_limited`; `overloaded` if callers without a limit have too many together
   */
  begin(account: Account, outcome: RequestOutcome): Disposable;
  /**
   * Lets a single request of such a caller in when one of the searches under way has ended, before the next one of a long
   * call; as many as that may wait at a time, then it is not waited for.
   *
   * @param admit called to admit the request; its signal ends the wait, and without a signal it does not wait
   */
  between<T>(
    subject: string,
    signal: AbortSignal,
    admit: (waiting: AbortSignal | undefined) => Promise<T>,
  ): Promise<T>;
}

/** Requests of one caller that wait at a time: a page or an agent has few, and each takes memory. */
const waitingMax = 4;

/**
 * Batches and reviews at a time of all callers whose plan has no limit, as in `open` mode. A review of 600 plies comes as 2 kB, and
 * keeps 3 MB of positions until it ends.
 */
const unlimitedMax = 64;

/** Expected duration of a batch or review, in milliseconds: a review of 40 moves at depth 14 on two slots. */
const expectedMs = 10_000;

export function createLongCalls(): LongCalls {
  const callers = new Map<string, { readonly begun: Set<{ readonly at: number }>; waiting: number }>();
  let unlimited = 0;
  return {
    callers,
    begin({ subject, plan }, outcome) {
      if (outcome.isLong) {
        return { [Symbol.dispose]() {} };
      }
      const caller = callers.get(subject) ?? { begun: new Set(), waiting: 0 };
      const max = plan.limits.concurrent;
      if (max === undefined && unlimited >= unlimitedMax) {
        throw new KibitzError(
          "overloaded",
          `This node runs its maximum of ${unlimitedMax} batches and reviews already. Retry later.`,
          { retryAfterMs: 1000 },
        );
      }
      if (max !== undefined && caller.begun.size >= max) {
        const now = performance.now();
        const rests = Array.from(caller.begun, ({ at }) => restMs(expectedMs, now - at));
        throw tooMany(max, Math.min(...rests), plan.id);
      }
      const call = { at: performance.now() };
      caller.begun.add(call);
      callers.set(subject, caller);
      outcome.isLong = true;
      unlimited += max === undefined ? 1 : 0;
      return {
        [Symbol.dispose]() {
          outcome.isLong = false;
          if (caller.begun.delete(call) && max === undefined) {
            unlimited--;
          }
          if (caller.begun.size === 0) {
            callers.delete(subject);
          }
        },
      };
    },
    async between(subject, signal, admit) {
      const caller = callers.get(subject);
      if (caller === undefined || caller.waiting >= waitingMax) {
        return admit(undefined);
      }
      caller.waiting++;
      try {
        return await admit(signal);
      } finally {
        caller.waiting--;
      }
    },
  };
}

function tooMany(max: number, restMs: number, planId: string): KibitzError {
  const seconds = Math.max(1, Math.ceil(restMs / 1000));
  const what = max === 1 ? "batch or review" : "batches and reviews";
  return new KibitzError(
    "concurrency_limited",
    `The plan's maximum of ${max} ${what} at a time is reached: one of them should end within ${durationText(seconds)}.`,
    { retryAfterMs: seconds * 1000, quota: `${planId}/concurrent` },
  );
}
