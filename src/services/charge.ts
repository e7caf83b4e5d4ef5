import type { Account } from "../access/account.ts";
import type { EnteredRequest, Limits } from "../access/limits.ts";
import { requestsOfReview } from "../access/over-plan.ts";
import { withoutConcurrent } from "../access/plans.ts";
import { setRateLimitHeaders } from "../access/rate-limit-fields.ts";
import type { ValidatedRequest } from "../analysis/analysis.ts";
import type { Analyzer } from "../analysis/analyzer.ts";
import type { SearchTime } from "../analysis/expected-time.ts";
import type { Terms } from "../analysis/flight.ts";
import type { ReadCall } from "../calls/call.ts";
import { costOfMoves, withCost } from "../errors/errors.ts";

interface ChargeOptions {
  /**
   * If the caller has too many concurrent searches, the request waits until a search ends or this signal aborts.
   * Without a signal, the request is rejected instead.
   */
  readonly waiting?: AbortSignal | undefined;
  /** The number of requests that the rate limits count. Default: 1. */
  readonly requests?: number;
  /** Called after the request was counted, and before the RateLimit headers are set. */
  readonly counted?: () => void;
}

/** All methods reject with a KibitzError, or with the abort reason of a signal. */
export type Charge = ReturnType<typeof createCharge>;

/** @param ending when this signal aborts, requests that wait for the end of a search are rejected with the abort reason */
export function createCharge(limits: Limits, timeOf: Analyzer["timeOf"], ending?: AbortSignal) {
  /**
   * Rejects with `rate_limited`, `quota_exhausted` or `concurrency_limited`, or with the abort reason of `waiting`.
   * `held` ends the charge, also if a later step fails.
   */
  async function request(
    validated: ValidatedRequest,
    call: ReadCall,
    held: DisposableStack,
    { waiting, requests = 1, counted }: ChargeOptions = {},
  ): Promise<ChargedRequest> {
    const { account, outcome } = call;
    const time = timeOf(validated, account.plan.limits.movetimeMaxMs);
    const either = waiting && ending ? AbortSignal.any([waiting, ending]) : waiting;
    const charged = held.use(new ChargedRequest(time, call));
    const decision = await limits.enter(account, time, {
      requests,
      waiting: either,
      onEntered: (entered) => charged.begin(entered),
    });
    if (decision.kind === "refused") {
      throw withCost(limits.errorFrom(decision, account, requests), costOfMoves(validated.movesPlayed));
    }
    counted?.();
    outcome.isCounted = true;
    setRateLimitHeaders(outcome, decision.windows);
    return charged;
  }

  async function countOne(
    { account, outcome }: Pick<ReadCall, "account" | "outcome">,
    onEntered?: (entered: EnteredRequest) => void,
  ): Promise<EnteredRequest> {
    const counted = { ...account, plan: withoutConcurrent(account.plan) };
    const decision = await limits.enter(counted, noTime, onEntered && { onEntered });
    if (decision.kind === "refused") {
      throw limits.errorFrom(decision, account);
    }
    outcome.isCounted = true;
    setRateLimitHeaders(outcome, decision.windows);
    return decision.entered;
  }

  return {
    request,
    /** The rate limits count a review as several requests. `positions` is the number of positions that need a search. */
    async review(first: ValidatedRequest, positions: number, call: ReadCall, held: DisposableStack) {
      const review = await request(first, call, held, { requests: requestsOfReview(positions) });
      let hasBegun = false;
      return {
        /** If the caller has too many concurrent searches, waits until a search ends or `signal` aborts. */
        async search(
          validated: ValidatedRequest,
          signal: AbortSignal,
          held: DisposableStack,
        ): Promise<Terms> {
          if (!hasBegun) {
            hasBegun = true;
            held.defer(() => review.freePlace());
            return review.terms;
          }
          const next = await request(validated, call, held, { waiting: signal, requests: 0 });
          const onEngineTime = (engineMs: number) => {
            next.terms.onEngineTime(engineMs);
            // Count the review even if the client disconnects before the first move, because an engine was used.
            review.answered();
          };
          return { ...next.terms, onEngineTime };
        },
        /** Call this after the client got the first move. A review without moves and without engine time is not counted. */
        answered: () => review.answered(),
      };
    },
    /** Charges a request that needs no engine: the rate limits count one request. */
    async withoutSearch(call: Pick<ReadCall, "account" | "outcome">): Promise<void> {
      (await countOne(call)).leave(0, true);
    },
    /** Like `withoutSearch`, for a request whose answer takes work: see {@link ChargedRequest.answered}. */
    async lookUp(call: ReadCall, held: DisposableStack): Promise<ChargedRequest> {
      const charged = held.use(new ChargedRequest(noTime, call));
      await countOne(call, (entered) => charged.begin(entered));
      return charged;
    },
    /** Rejects if the account has used up its quota. Does not count a request. */
    refuseUsedUp: (account: Account) => limits.refuseUsedUp(account),
  };
}

const noTime: SearchTime = { expectedMs: 0, longestMs: 0 };

/** Disposing of this object charges the engine time of the request. */
export class ChargedRequest implements Disposable {
  readonly terms: Terms;
  readonly #call: ReadCall;
  /** Undefined if the request is refused, or not counted yet. */
  #entered: EnteredRequest | undefined;
  #engineMs = 0;
  #answered = false;

  constructor(time: SearchTime, call: ReadCall) {
    this.#call = call;
    this.terms = {
      ...time,
      onEngineTime: (engineMs) => {
        this.#engineMs = engineMs;
      },
    };
  }

  begin(entered: EnteredRequest): void {
    this.#entered = entered;
  }

  /**
   * Call this when the request has a response. A request without a response and without engine time is not counted, because the
   * service has failed. Exception: a request that its client has abandoned is counted.
   */
  answered(): void {
    this.#answered = true;
  }

  /** Call this when the search has ended, so that the caller may start another search. The request continues. */
  freePlace(): void {
    this.#entered?.freePlace();
  }

  [Symbol.dispose](): void {
    const { signal, outcome } = this.#call;
    const isAbandoned = signal.aborted && !outcome.hasFailed;
    this.#entered?.leave(this.#engineMs, this.#answered || isAbandoned);
  }
}
