/**
 * Reviews and batches that are under way, by caller. They may have as many searches at a time as their caller may, so
 * nothing of the plan is left for a single request; that takes its turn between theirs, and not an answer 429 for as long
 * as they last.
 */
export interface LongCalls {
  /** Subjects of the callers that have one. */
  readonly callers: { has(subject: string): boolean };
  /** One begins; it is disposed of when it has ended. */
  begin(subject: string): Disposable;
  /**
   * Lets a single request of such a caller in when one of the searches under way has ended, before the next one of a long
   * call; as many as that may wait at a time, then it is not waited for.
   *
   * @param admit asks to be let in. It is told until when to wait; not at all, if unset
   */
  between<T>(
    subject: string,
    signal: AbortSignal,
    admit: (waiting: AbortSignal | undefined) => T | Promise<T>,
  ): Promise<T>;
}

/** Requests of one caller that wait at a time: a page or an agent has few, and each takes memory. */
const waitingMax = 4;

export function createLongCalls(): LongCalls {
  const callers = new Map<string, { calls: number; waiting: number }>();
  return {
    callers,
    begin(subject) {
      const caller = callers.get(subject) ?? { calls: 0, waiting: 0 };
      callers.set(subject, caller);
      caller.calls++;
      return {
        [Symbol.dispose]() {
          caller.calls--;
          if (caller.calls === 0) {
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
