import { type DescMethod, isMessage, type Message, type MessageShape } from "@bufbuild/protobuf";
import { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { GameService } from "../../gen/chess/analysis/v1/game_service_pb.ts";
import type { Access } from "../access/access.ts";
import type { Account } from "../access/account.ts";
import { errorFromRefusal, refuseSpent, refuseUsedUp } from "../access/limit-errors.ts";
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
import type { JudgedRequest } from "../analysis/analysis.ts";
import type { Analyzer } from "../analysis/analyzer.ts";
import type { SearchTime } from "../analysis/expected-time.ts";
import type { Terms } from "../analysis/flight.ts";
import { judgeRequest, type KnownEngines } from "../analysis/judge-request.ts";
import type { Call } from "../calls/call.ts";
import { requestFromMessage } from "../calls/convert.ts";
import { reviewFromMessage } from "../calls/convert-review.ts";
import { costOf } from "../calls/policy.ts";
import type { Rules } from "../calls/rules.ts";
import { costOfMoves, errorFromFaults, type Fault, KibitzError, withCost } from "../errors/errors.ts";
import type { BeginWork } from "../thread/event-loop.ts";
import { type JudgedReview, judgeReview } from "./judge-review.ts";

/** The part of a call that admission needs: its account, and the outcome in which it writes the RateLimit fields. */
export type Admissible = Pick<Call, "account" | "outcome">;

/** Admits requests while their caller has quota left. */
export interface AdmissionControl {
  /** @throws KibitzError `rate_limited`, `quota_exhausted`, `concurrency_limited` */
  admit(request: JudgedRequest, call: Admissible, options?: AdmissionOptions): Promise<Admitted>;
  /**
   * Admits the review of a game, which counts as several requests, together with its first search.
   *
   * @param positions number of positions to evaluate
   * @throws KibitzError as `admit`
   */
  admitReview(first: JudgedRequest, positions: number, call: Admissible): Promise<AdmittedReview>;
  /**
   * Admits a request that the rules of chess answer. It counts as one request and takes no engine time.
   *
   * @throws KibitzError as `admit`
   */
  admitRules(call: Admissible): Promise<void>;
  /**
   * Checks if the account could make any request now.
   *
   * @throws KibitzError `rate_limited`, `quota_exhausted`, with the time until it could
   */
  refuseUsedUp(account: Account): Promise<void>;
}

interface AdmissionOptions {
  /**
   * If the caller has too many searches under way, admission waits for a place until this is aborted. Without it, the request is refused.
   */
  readonly waiting?: AbortSignal;
  /** Number of requests that this one counts as. Default: 1. */
  readonly requests?: number;
  /** Called when the request has been counted, before the header fields say what is left. */
  readonly counted?: () => void;
}

/** An admitted review. Disposing of it charges the engine time that it used. */
interface AdmittedReview extends Disposable {
  /**
   * Admits one of its searches. If the caller has too many under way, it waits for a place.
   *
   * @throws KibitzError `quota_exhausted`; the reason of `signal`
   */
  admit(request: JudgedRequest, signal: AbortSignal): Promise<Pick<Admitted, "terms"> & Disposable>;
  /** To be called after the first answer: a review without any may cost nothing. */
  answered(): void;
}

/** An admitted request. Disposing of it charges the engine time that it used. */
export interface Admitted extends Disposable {
  /** For the analyzer. */
  readonly terms: Terms;
  /** To be called when an answer was found: a request without one may cost nothing. */
  answered(): void;
}

/** @param timeOf estimates how long searches take on this machine */
export function createAdmissionControl(limits: Limits, timeOf: Analyzer["timeOf"]): AdmissionControl {
  async function admit(
    request: JudgedRequest,
    { account, outcome }: Admissible,
    { waiting, requests = 1, counted }: AdmissionOptions = {},
  ): Promise<Meter> {
    const time = timeOf(request, account.plan.limits.movetimeMaxMs);
    for (;;) {
      const entry = await limits.enter(account, time, requests);
      if (entry.kind === "admitted") {
        counted?.();
        setRateLimitHeaders(outcome, entry.windows);
        return new Meter(entry.admission, time);
      }
      if (waiting === undefined || entry.refusal.code !== "concurrency_limited") {
        const error = errorFromRefusal(entry.refusal, account, requests);
        throw withCost(error, costOfMoves(request.movesPlayed));
      }
      await limits.placeFree(account, waiting);
    }
  }

  return {
    admit,
    async admitReview(first, positions, call) {
      const meter = await admit(first, call, { requests: requestsOfReview(positions) });
      let hasBegun = false;
      return {
        async admit(request, signal) {
          if (hasBegun) {
            const next = await admit(request, call, { waiting: signal, requests: 0 });
            const dispose = () => {
              // A client that leaves before the first move has used an engine nevertheless.
              if (next.hasEngineTime) {
                meter.answered();
              }
              next[Symbol.dispose]();
            };
            return { terms: next.terms, [Symbol.dispose]: dispose };
          }
          hasBegun = true;
          return { terms: meter.terms, [Symbol.dispose]: () => meter.freePlace() };
        },
        answered: () => meter.answered(),
        [Symbol.dispose]: () => meter[Symbol.dispose](),
      };
    },
    async admitRules({ account, outcome }) {
      // It needs no engine, so the limit on searches under way does not apply.
      const entry = await limits.enter({ ...account, plan: withoutConcurrent(account.plan) }, noTime);
      if (entry.kind === "refused") {
        throw errorFromRefusal(entry.refusal, account);
      }
      setRateLimitHeaders(outcome, entry.windows);
      entry.admission.leave(0, true);
    },
    refuseUsedUp: (account) => refuseUsedUp(limits, account),
  };
}

/** The time of a request that needs no engine. */
const noTime: SearchTime = { expectedMs: 0, longestMs: 0 };

class Meter implements Admitted {
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

  get hasEngineTime(): boolean {
    return this.#engineMs > 0;
  }

  answered(): void {
    this.#answered = true;
  }

  /** Frees the place of the search. The request goes on without one. */
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

/**
 * Checks a request before it is counted and before an engine is used, always in this order: is it valid (400), then does the
 * caller's plan cover it (402). Each method throws or rejects with a KibitzError.
 */
export interface Preflight {
  /** Checks a request that keeps the rules of the proto: its position, engine, path and options, then the plan. */
  request(message: RequestMessage, account: Account): Promise<JudgedRequest>;
  /**
   * Checks a request that may break the rules of the proto, such as an item of a batch.
   *
   * @param found what is wrong with the JSON of the request
   */
  item(message: RequestMessage, account: Account, found?: readonly Fault[]): Promise<JudgedRequest>;
  /** Checks a review that keeps the rules of the proto: the game, engine and path, then the plan. */
  review(message: ReviewMessage, account: Account): Promise<JudgedReview>;
  /** Checks the size of a batch, and none of its items. */
  batch(items: number, account: Account): void;
  /** Checks a request of the method, or an item of its batch. */
  message(message: Message, method: DescMethod, account: Account): Promise<void>;
}

/** A refusal counts once more for so many items of a batch that were read. */
const itemsForOne = 10;

interface PreflightOptions {
  readonly access: Access;
  readonly engines: KnownEngines;
  readonly rules: Rules;
  /** Slices of the thread: a long game takes tens of milliseconds to read and to play. */
  readonly beginWork: BeginWork;
}

export function createPreflight({ access, engines, rules, beginWork }: PreflightOptions): Preflight {
  const { plans, selfService } = access;
  /**
   * @param excessIn what is too much for a plan
   * @param cost of the refusal
   */
  function refuseExcess(
    excessIn: (plan: Plan) => Parameters<typeof upgradeNeeded>[0],
    plan: Plan,
    cost: number,
  ): void {
    const excess = excessIn(plan);
    if (excess.length > 0) {
      const runs = (other: Plan) => excessIn(other).length === 0;
      throw withCost(upgradeNeeded(excess, { plans, plan, runs, selfServicePlan: selfService?.plan }), cost);
    }
  }

  function judgeByRules(message: Message, desc: DescMethod["input"], found?: readonly Fault[]): void {
    const faults = rules(message, desc, found);
    if (faults.length > 0) {
      throw errorFromFaults(faults);
    }
  }

  const judge: Preflight = {
    async request(message, account) {
      const { plan } = account;
      // While a long game is played, other calls of the same caller may use up its error quota.
      const check = () => refuseSpent(access.limits, account);
      try {
        const request = await judgeRequest(requestFromMessage(message), engines, check);
        refuseExcess((one) => excessOf(request, one), plan, costOf(message));
        return request;
      } catch (thrown) {
        throw thrown instanceof KibitzError ? withCost(thrown, costOf(message)) : thrown;
      }
    },
    async review(message, account) {
      const { plan } = account;
      const turn = beginWork(() => refuseSpent(access.limits, account));
      const judged = await judgeReview(reviewFromMessage(message), engines, turn);
      const cost = costOfMoves(judged.game.moves.length);
      refuseExcess((one) => excessOfReview(judged.asked, one), plan, cost);
      return judged;
    },
    async item(message, account, found) {
      judgeByRules(message, single.input, found);
      return judge.request(message, account);
    },
    batch(items, { plan }) {
      refuseExcess((one) => excessOfBatch(items, one), plan, 1 + items / itemsForOne);
    },
    async message(message, method, account) {
      if (isMessage(message, single.input)) {
        await judge.item(message, account);
        return;
      }
      judgeByRules(message, method.input);
      if (isMessage(message, batch.input)) {
        judge.batch(message.requests.length, account);
      }
      if (isMessage(message, reviewGame.input)) {
        await judge.review(message, account);
      }
    },
  };
  return judge;
}
