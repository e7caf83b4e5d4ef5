import type { Access } from "../access/access.ts";
import type { Account } from "../access/account.ts";
import type { Admission, Refusal } from "../access/limits.ts";
import { couldRun, excessOf, excessOfBatch, upgradeNeeded } from "../access/over-plan.ts";
import type { JudgedRequest } from "../analysis/analysis.ts";
import type { Terms } from "../analysis/analyzer.ts";
import type { Caller } from "../caller.ts";
import { durationText } from "../duration-text.ts";
import { KibitzError } from "../errors.ts";
import { leaveRateLimitFields } from "./rate-limit-fields.ts";

/** Who asks: the account, and the caller whose answer tells of its limits. */
export interface Asker {
  readonly account: Account;
  readonly caller: Caller;
}

/** Lets requests in that the caller's plan can run and that there is quota for. */
export interface Gate {
  /**
   * @param waiting where too many searches of the caller are under way, wait for one of them to end, until this is
   * aborted; without, that is an error, too.
   * @throws KibitzError `upgrade_needed`, `rate_limited`, `quota_exhausted`, `concurrency_limited`
   */
  admit(request: JudgedRequest, asker: Asker, waiting?: AbortSignal): Promise<Admitted>;
  /** @throws KibitzError `upgrade_needed` for a batch that the plan has never room for */
  judgeBatch(items: number, account: Account): void;
}

/** A request that was let in. Disposing of it counts what it took. */
export interface Admitted extends Disposable {
  /** For the analyzer. */
  readonly terms: Terms;
  /** To be called when an answer was found: what is not answered may cost nothing. */
  answered(): void;
}

export function createGate(access: Access): Gate {
  const { limits, plans, selfService } = access;
  const upgrading = { plans, selfServicePlan: selfService?.plan };

  function judge(request: JudgedRequest, { plan }: Account): void {
    const excess = excessOf(request, plan);
    if (excess.length > 0) {
      throw upgradeNeeded(excess, { ...upgrading, plan, runs: couldRun(request) });
    }
  }

  return {
    async admit(request, { account, caller }, waiting) {
      judge(request, account);
      const { movetimeMaxMs } = account.plan.limits;
      for (;;) {
        const entry = await limits.enter(account, request.movetimeMs ?? movetimeMaxMs);
        if (entry.kind === "admitted") {
          leaveRateLimitFields(caller, entry.windows);
          return new Meter(entry.admission, movetimeMaxMs);
        }
        if (waiting === undefined || entry.refusal.code !== "concurrency_limited") {
          throw errorFromRefusal(entry.refusal, account);
        }
        await limits.oneEnded(account, waiting);
      }
    },
    judgeBatch(items, { plan }) {
      const excess = excessOfBatch(items, plan);
      if (excess.length > 0) {
        const runs = (other: typeof plan) => excessOfBatch(items, other).length === 0;
        throw upgradeNeeded(excess, { ...upgrading, plan, runs });
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

/** In whole seconds, as Retry-After counts: whoever waits exactly so long comes neither too early nor later than necessary. */
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
        `The plan's maximum of ${quota} ${quota === 1 ? "search" : "searches"} at a time is reached: one of them ends within ${wait}.`,
        options,
      );
  }
}
