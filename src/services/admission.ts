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
import type { Call } from "../calls/call.ts";
import { requestFromMessage } from "../calls/convert.ts";
import { searchOfReview } from "../calls/convert-review.ts";
import { costOf } from "../calls/policy.ts";
import type { Rules } from "../calls/rules.ts";
import { costOfMoves, KibitzError, refuseViolations, type Violation, withCost } from "../errors/errors.ts";
import type { BeginWork } from "../thread/event-loop.ts";
import { type ValidatedReview, validateReview } from "./validate-review.ts";

type Admissible = Pick<Call, "account" | "outcome">;

interface AdmissionOptions {
  /** If the caller has too many searches in flight, wait for a place until this is aborted. Without it, reject the request. */
  readonly waiting?: AbortSignal | undefined;
  /** The number of requests that this request counts as. Default: 1. */
  readonly requests?: number;
  /** Called when the request has been counted, before the RateLimit fields report the remaining quota. */
  readonly counted?: () => void;
}

/** Admits requests if their caller has quota left. All methods reject with KibitzErrors. */
export type AdmissionControl = ReturnType<typeof createAdmissionControl>;

/** @param timeOf estimates how long a search takes on this machine */
export function createAdmissionControl(limits: Limits, timeOf: Analyzer["timeOf"]) {
  /** Rejects with `rate_limited`, `quota_exhausted` or `concurrency_limited`, or the abort reason of `waiting`. */
  async function admit(
    request: ValidatedRequest,
    { account, outcome }: Admissible,
    { waiting, requests = 1, counted }: AdmissionOptions = {},
  ): Promise<Admitted> {
    const time = timeOf(request, account.plan.limits.movetimeMaxMs);
    const decision = await limits.enter(account, time, { requests, waiting });
    if (decision.kind === "refused") {
      setRateLimitHeaders(outcome, decision.windows);
      const error = errorFromRefusal(decision.refusal, account, requests);
      throw withCost(error, costOfMoves(request.movesPlayed));
    }
    counted?.();
    setRateLimitHeaders(outcome, decision.windows);
    return new Admitted(decision.admission, time);
  }

  return {
    admit,
    /**
     * Admits a review, which counts as several requests, with its first search. Disposing charges the time of that search.
     * @param positions number of positions to evaluate
     */
    async admitReview(first: ValidatedRequest, positions: number, call: Admissible) {
      const review = await admit(first, call, { requests: requestsOfReview(positions) });
      let hasBegun = false;
      return {
        /** Admits one search of the review. It waits for a place if the caller has too many searches in flight. */
        async admit(request: ValidatedRequest, signal: AbortSignal): Promise<{ terms: Terms } & Disposable> {
          if (!hasBegun) {
            hasBegun = true;
            return { terms: review.terms, [Symbol.dispose]: () => review.freePlace() };
          }
          const next = await admit(request, call, { waiting: signal, requests: 0 });
          const onEngineTime = (engineMs: number) => {
            next.terms.onEngineTime(engineMs);
            // An engine was used, so the review counts even if the client disconnects before the first move.
            review.answered();
          };
          return { terms: { ...next.terms, onEngineTime }, [Symbol.dispose]: () => next[Symbol.dispose]() };
        },
        /** Call this after the first answer. A review without any answer may cost nothing. */
        answered: () => review.answered(),
        [Symbol.dispose]: () => review[Symbol.dispose](),
      };
    },
    /** Admits a request that needs no engine, only the rules of chess. It counts as one request. */
    async admitRules({ account, outcome }: Admissible): Promise<void> {
      // No engine, so no limit on searches in flight.
      const decision = await limits.enter({ ...account, plan: withoutConcurrent(account.plan) }, noTime);
      setRateLimitHeaders(outcome, decision.windows);
      if (decision.kind === "refused") {
        throw errorFromRefusal(decision.refusal, account);
      }
      decision.admission.leave(0, true);
    },
    /** Rejects an account without quota, with the time until its next request can be admitted. */
    refuseUsedUp: (account: Account) => limits.refuseUsedUp(account),
  };
}

const noTime: SearchTime = { expectedMs: 0, longestMs: 0 };

/** An admitted request. Disposing of it charges the engine time that the request used. */
export class Admitted implements Disposable {
  readonly terms: Terms;
  readonly #admission: Admission;
  #engineMs = 0;
  #answered = false;

  constructor(admission: Admission, time: SearchTime) {
    this.#admission = admission;
    this.terms = {
      ...time,
      onEngineTime: (engineMs) => {
        this.#engineMs = engineMs;
      },
    };
  }

  /** Call this when an answer was found. A request without an answer may cost nothing. */
  answered(): void {
    this.#answered = true;
  }

  /** Frees the place of the search. The request continues without it. */
  freePlace(): void {
    this.#admission.freePlace();
  }

  [Symbol.dispose](): void {
    this.#admission.leave(this.#engineMs, this.#answered);
  }
}

const { evaluate: single, evaluateBatch: batch } = AnalysisService.method;
const { reviewGame } = GameService.method;
type RequestMessage = MessageShape<typeof single.input>;
type ReviewMessage = MessageShape<typeof reviewGame.input>;

/** The number of items that raise the cost of rejecting a batch by one. */
const itemsForOne = 10;

interface PreflightOptions {
  readonly access: Access;
  readonly engines: KnownEngines;
  readonly rules: Rules;
  /** Reading and playing a long game takes tens of milliseconds, hence the time slices. */
  readonly beginWork: BeginWork;
}

/** Checks a request before it is counted or uses an engine: first validity (400), then the caller's plan (402). */
export type Preflight = ReturnType<typeof createPreflight>;

export function createPreflight({ access, engines, rules, beginWork }: PreflightOptions) {
  const { plans, selfService } = access;
  function refuseExcess(excessIn: Parameters<typeof upgradeNeeded>[0], plan: Plan, cost: number): void {
    const error = upgradeNeeded(excessIn, { plans, plan, hasSelfService: selfService !== undefined });
    if (error) {
      throw withCost(error, cost);
    }
  }

  /** Checks a request that satisfies the rules of the proto: first its position, engine, path and options, then the plan. */
  async function request(message: RequestMessage, account: Account): Promise<ValidatedRequest> {
    // While a long game is played, other calls of the same caller may use up its error quota.
    const check = () => access.limits.errorQuota.check(account);
    try {
      const validated = await validateRequest(requestFromMessage(message), engines, check);
      refuseExcess((one) => excessOf(validated, one), account.plan, costOf(message));
      return validated;
    } catch (thrown) {
      throw thrown instanceof KibitzError ? withCost(thrown, costOf(message)) : thrown;
    }
  }

  /** Checks a request that may break the rules of the proto, such as an item of a batch. `found`: the violations of its JSON. */
  async function item(message: RequestMessage, account: Account, found?: readonly Violation[]) {
    refuseViolations(rules(message, single.input, found));
    return request(message, account);
  }

  /** Checks a review that satisfies the rules of the proto: first its game, engine and path, then the plan. */
  async function review(message: ReviewMessage, account: Account): Promise<ValidatedReview> {
    const turn = beginWork(() => access.limits.errorQuota.check(account));
    const validated = await validateReview(message, searchOfReview(message), engines, turn);
    const cost = costOfMoves(validated.game.moves.length);
    refuseExcess((one) => excessOfReview(validated.limits, one), account.plan, cost);
    return validated;
  }

  function batchSize(items: number, { plan }: Account): void {
    refuseExcess((one) => excessOfBatch(items, one), plan, 1 + items / itemsForOne);
  }

  /** Checks a request of the given method, or an item of its batch. */
  async function message(sent: Message, method: DescMethod, account: Account): Promise<void> {
    if (isMessage(sent, single.input)) {
      await item(sent, account);
      return;
    }
    refuseViolations(rules(sent, method.input));
    if (isMessage(sent, batch.input)) {
      batchSize(sent.requests.length, account);
    }
    if (isMessage(sent, reviewGame.input)) {
      await review(sent, account);
    }
  }

  return { request, item, review, batchSize, message };
}
