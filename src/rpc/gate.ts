import type { Account } from "../access/account.ts";
import type { Admission, Limits, Refusal } from "../access/limits.ts";
import { leaveRateLimitFields } from "../access/rate-limit-fields.ts";
import type { JudgedRequest } from "../analysis/analysis.ts";
import type { Analyzer, Terms } from "../analysis/analyzer.ts";
import type { Caller } from "../caller.ts";
import { KibitzError, withCost } from "../errors/errors.ts";
import { durationText } from "../text/duration-text.ts";
import { costOfMoves } from "./judge.ts";

/** Who asks: the account, and the caller whose answer tells of its limits. */
export interface Asker {
  readonly account: Account;
  readonly caller: Caller;
}

/** Lets requests in that there is quota for. */
export interface Gate {
  /**
   * @param waiting where too many searches of the caller are under way, wait for a place, until this is
   * aborted; without, that is an error, too.
   * @throws KibitzError `rate_limited`, `quota_exhausted`, `concurrency_limited`
   */
  admit(request: JudgedRequest, asker: Asker, waiting?: AbortSignal): Promise<Admitted>;
  /**
   * Refuses what could not be admitted now, whatever it asks, and says when it could.
   *
   * @throws KibitzError `rate_limited`, `quota_exhausted`
   */
  refuseUsedUp(account: Account): Promise<void>;
}

/** A request that was let in. Disposing of it counts what it took. */
export interface Admitted extends Disposable {
  /** For the analyzer. */
  readonly terms: Terms;
  /** To be called when an answer was found: what is not answered may cost nothing. */
  answered(): void;
}

/** @param expectMs what searches take on this machine. */
export function createGate(limits: Limits, expectMs: Analyzer["expectMs"]): Gate {
  return {
    async admit(request, { account, caller }, waiting) {
      const { movetimeMaxMs } = account.plan.limits;
      const { build, depth, multipv, movetimeMs = movetimeMaxMs } = request;
      const expectedMs = expectMs(build, { depth, multipv, movetimeMs });
      for (;;) {
        const entry = await limits.enter(account, { expectedMs, longestMs: movetimeMs });
        if (entry.kind === "admitted") {
          leaveRateLimitFields(caller, entry.windows);
          return new Meter(entry.admission, movetimeMaxMs);
        }
        if (waiting === undefined || entry.refusal.code !== "concurrency_limited") {
          throw withCost(
            errorFromRefusal(entry.refusal, account),
            costOfMoves(request.position.moves.length),
          );
        }
        await limits.placeFree(account, waiting);
      }
    },
    async refuseUsedUp(account) {
      const windows = await limits.allWindowsOf(account);
      const usedUp = windows.filter(({ policy, remaining }) => remaining === 0 && policy.unit !== "refusal");
      // Whoever is refused by several windows has to wait for the last.
      const last = usedUp.toSorted((one, other) => other.resetMs - one.resetMs)[0];
      if (last) {
        const { name: limit, quota, unit } = last.policy;
        const code = unit === "request" ? "rate_limited" : "quota_exhausted";
        throw errorFromRefusal({ code, limit, quota, retryAfterMs: last.resetMs }, account);
      }
    },
  };
}

class Meter implements Admitted {
  readonly terms: Terms;
  readonly #admission: Admission;
  #engineMs = 0;
  #answered = false;

  constructor(admission: Admission, movetimeMaxMs: number) {
    this.#admission = admission;
    this.terms = {
      movetimeMaxMs,
      onEngineTime: (engineMs) => {
        this.#engineMs = engineMs;
      },
    };
  }

  answered(): void {
    this.#answered = true;
  }

  [Symbol.dispose](): void {
    this.#admission.leave(this.#engineMs, this.#answered);
  }
}

/**
 * In whole seconds, as Retry-After counts, and at least one: callers who wait exactly so long for a window come neither
 * too early nor later than necessary.
 */
function errorFromRefusal(refusal: Refusal, { plan }: Account): KibitzError {
  const seconds = Math.max(1, Math.ceil(refusal.retryAfterMs / 1000));
  const options = { retryAfterMs: seconds * 1000, quota: `${plan.id}/${refusal.limit}` };
  const { code, quota } = refusal;
  const wait = durationText(seconds);
  switch (code) {
    case "rate_limited":
      return new KibitzError(
        code,
        `The limit of ${quota} ${quota === 1 ? "request" : "requests"} in this window is reached. Try again in ${wait}.`,
        options,
      );
    case "quota_exhausted":
      return new KibitzError(
        code,
        `The ${quota / 1000} s of engine time in this window are used up: more is available in ${wait}.`,
        options,
      );
    case "concurrency_limited":
      return new KibitzError(
        code,
        `The plan's maximum of ${quota} ${quota === 1 ? "search" : "searches"} at a time is reached: one of them should end within ${wait}.`,
        options,
      );
  }
}
