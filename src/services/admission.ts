import { type DescMethod, isMessage, type Message, type MessageShape } from "@bufbuild/protobuf";
import { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { GameService } from "../../gen/chess/analysis/v1/game_service_pb.ts";
import type { Access } from "../access/access.ts";
import type { Account } from "../access/account.ts";
import { errorFromRefusal } from "../access/limit-errors.ts";
import type { Admission, Limits } from "../access/limits.ts";
import {
  excessOf,
  excessOfBatch,
  excessOfReview,
  requestsOfReview,
  upgradeNeeded,
} from "../access/over-plan.ts";
import { type Plan, withoutConcurrent } from "../access/plans.ts";
import { setRateLimitHeaders } from "../access/rate-limit-fields.ts";
import type { ValidatedRequest } from "../analysis/analysis.ts";
import type { Analyzer } from "../analysis/analyzer.ts";
import type { SearchTime } from "../analysis/expected-time.ts";
import type { Terms } from "../analysis/flight.ts";
import { type KnownEngines, validateRequest } from "../analysis/validate-request.ts";
import type { ReadCall } from "../calls/call.ts";
import { requestFromMessage } from "../calls/convert.ts";
import { searchOfReview } from "../calls/convert-review.ts";
import { costOf } from "../calls/policy.ts";
import type { Rules } from "../calls/rules.ts";
import { costOfMoves, KibitzError, refuseViolations, type Violation, withCost } from "../errors/errors.ts";
import type { BeginWork } from "../thread/event-loop.ts";
import { readReview, type ValidatedReview, validateReview } from "./validate-review.ts";

interface AdmissionOptions {
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

/** All methods reject with KibitzErrors. */
export type AdmissionControl = ReturnType<typeof createAdmissionControl>;

/** @param ending when this signal aborts, requests that wait for the end of a search are rejected with the abort reason */
export function createAdmissionControl(limits: Limits, timeOf: Analyzer["timeOf"], ending?: AbortSignal) {
  /**
   * Rejects with `rate_limited`, `quota_exhausted` or `concurrency_limited`, or with the abort reason of `waiting`.
   * `held` disposes of the admission, also if a step after the admission fails.
   */
  async function admit(
    request: ValidatedRequest,
    call: ReadCall,
    held: DisposableStack,
    { waiting, requests = 1, counted }: AdmissionOptions = {},
  ): Promise<Admitted> {
    const { account, outcome } = call;
    const time = timeOf(request, account.plan.limits.movetimeMaxMs);
    const either = waiting && ending ? AbortSignal.any([waiting, ending]) : waiting;
    const admitted = held.use(new Admitted(time, call));
    const decision = await limits.enter(account, time, {
      requests,
      waiting: either,
      onAdmitted: (admission) => admitted.begin(admission),
    });
    if (decision.kind === "refused") {
      setRateLimitHeaders(outcome, decision.windows);
      const error = errorFromRefusal(decision.refusal, account, requests);
      throw withCost(error, costOfMoves(request.movesPlayed));
    }
    counted?.();
    outcome.isCounted = true;
    setRateLimitHeaders(outcome, decision.windows);
    return admitted;
  }

  return {
    admit,
    /** The rate limits count a review as several requests. `positions` is the number of positions that need a search. */
    async admitReview(first: ValidatedRequest, positions: number, call: ReadCall, held: DisposableStack) {
      const review = await admit(first, call, held, { requests: requestsOfReview(positions) });
      let hasBegun = false;
      return {
        /** If the caller has too many concurrent searches, waits until a search ends or `signal` aborts. */
        async admit(request: ValidatedRequest, signal: AbortSignal, held: DisposableStack): Promise<Terms> {
          if (!hasBegun) {
            hasBegun = true;
            held.defer(() => review.freePlace());
            return review.terms;
          }
          const next = await admit(request, call, held, { waiting: signal, requests: 0 });
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
    /** Admits a request that needs no engine. The rate limits count one request. */
    async admitRules({ account, outcome }: Pick<ReadCall, "account" | "outcome">): Promise<void> {
      const decision = await limits.enter({ ...account, plan: withoutConcurrent(account.plan) }, noTime);
      setRateLimitHeaders(outcome, decision.windows);
      if (decision.kind === "refused") {
        throw errorFromRefusal(decision.refusal, account);
      }
      outcome.isCounted = true;
      decision.admission.leave(0, true);
    },
    /** Rejects if the account has used up its quota. Does not count a request. */
    refuseUsedUp: (account: Account) => limits.refuseUsedUp(account),
  };
}

const noTime: SearchTime = { expectedMs: 0, longestMs: 0 };

/** Disposing of this object charges the engine time of the request. */
export class Admitted implements Disposable {
  readonly terms: Terms;
  readonly #call: ReadCall;
  /** Undefined if the request is not admitted, or not yet. */
  #admission: Admission | undefined;
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

  begin(admission: Admission): void {
    this.#admission = admission;
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
    this.#admission?.freePlace();
  }

  [Symbol.dispose](): void {
    const { signal, outcome } = this.#call;
    const isAbandoned = signal.aborted && !outcome.hasFailed;
    this.#admission?.leave(this.#engineMs, this.#answered || isAbandoned);
  }
}

const { evaluate: single, evaluateBatch: batch } = AnalysisService.method;
const { reviewGame } = GameService.method;
type RequestMessage = MessageShape<typeof single.input>;
type ReviewMessage = MessageShape<typeof reviewGame.input>;

/** Rejecting a batch of n items costs 1 + n / 10 of the error quota. */
const itemsForOne = 10;

interface PreflightOptions {
  readonly access: Access;
  readonly engines: KnownEngines;
  readonly rules: Rules;
  readonly beginWork: BeginWork;
}

/** An invalid request gets status 400. A request that exceeds the plan gets status 402. */
export type Preflight = ReturnType<typeof createPreflight>;

export function createPreflight({ access, engines, rules, beginWork }: PreflightOptions) {
  const { plans, selfService } = access;
  function refuseExcess(excessIn: Parameters<typeof upgradeNeeded>[0], plan: Plan, cost: number): void {
    const error = upgradeNeeded(excessIn, { plans, plan, hasSelfService: selfService !== undefined });
    if (error) {
      throw withCost(error, cost);
    }
  }

  /**
   * Call the returned function before each time slice. It throws if the client has abandoned the call, or if other calls of the
   * same caller have used up the error quota.
   */
  function beginCheck({ account, outcome, signal }: ReadCall, cost: number): () => void {
    outcome.workCost = Math.max(outcome.workCost, cost);
    return () => {
      signal.throwIfAborted();
      access.limits.errorQuota.check(account);
    };
  }

  /** Validates the request, and checks the limits of the plan. The caller has already checked the rules in the proto file. */
  async function request(message: RequestMessage, call: ReadCall): Promise<ValidatedRequest> {
    const cost = costOf(message);
    const check = beginCheck(call, cost);
    check();
    try {
      const validated = await validateRequest(requestFromMessage(message), engines, check);
      refuseExcess((one) => excessOf(validated, one), call.account.plan, cost);
      return validated;
    } catch (thrown) {
      throw thrown instanceof KibitzError ? withCost(thrown, cost) : thrown;
    }
  }

  /** Validates an item, and checks the rules in the proto file. `found` contains the violations from decoding the JSON. */
  async function item(message: RequestMessage, call: ReadCall, found?: readonly Violation[]) {
    refuseViolations(rules(message, single.input, found));
    return request(message, call);
  }

  /** Validates the review, and checks the limits of the plan. The caller has already checked the rules in the proto file. */
  async function review(message: ReviewMessage, call: ReadCall): Promise<ValidatedReview> {
    const turn = beginWork(beginCheck(call, costOf(message)));
    const read = await readReview(message, searchOfReview(message), engines, turn);
    const { limits } = read;
    refuseExcess((one) => excessOfReview(limits, one), call.account.plan, costOfMoves(limits.plies));
    return validateReview(read, engines, turn);
  }

  function batchSize(items: number, { plan }: Account): void {
    refuseExcess((one) => excessOfBatch(items, one), plan, 1 + items / itemsForOne);
  }

  async function message(sent: Message, method: DescMethod, call: ReadCall): Promise<void> {
    if (isMessage(sent, single.input)) {
      await item(sent, call);
      return;
    }
    refuseViolations(rules(sent, method.input));
    if (isMessage(sent, batch.input)) {
      batchSize(sent.requests.length, call.account);
    }
    if (isMessage(sent, reviewGame.input)) {
      await review(sent, call);
    }
  }

  return { request, item, review, batchSize, message };
}
