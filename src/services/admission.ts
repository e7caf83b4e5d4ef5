import { type DescMethod, isMessage, type Message, type MessageShape } from "@bufbuild/protobuf";
import { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import type { Access } from "../access/access.ts";
import type { Account } from "../access/account.ts";
import { setRateLimitHeaders } from "../access/counters.ts";
import { refuseSpent } from "../access/entrance.ts";
import type { Admission, Limits, Refusal } from "../access/limits.ts";
import { couldRun, excessOf, excessOfBatch, upgradeNeeded } from "../access/over-plan.ts";
import type { JudgedRequest } from "../analysis/analysis.ts";
import type { Analyzer, Terms } from "../analysis/analyzer.ts";
import type { SearchTime } from "../analysis/expected-time.ts";
import { judgeRequest, type KnownEngines } from "../analysis/judge-request.ts";
import { requestFromMessage } from "../calls/convert.ts";
import type { Rules } from "../calls/rules.ts";
import { errorFromFaults, KibitzError, withCost } from "../errors/errors.ts";
import type { RequestOutcome } from "../request/context.ts";
import { durationText } from "../text/plain-text.ts";

/** Who asks, and in which request: its answer tells how the windows of the account stand. */
export interface Asker {
  readonly account: Account;
  readonly requestId: string;
  readonly outcome: RequestOutcome;
}

/** Lets requests in that there is quota for. */
export interface AdmissionControl {
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

/** @param timeOf what searches take on this machine. */
export function createAdmissionControl(limits: Limits, timeOf: Analyzer["timeOf"]): AdmissionControl {
  return {
    async admit(request, { account, outcome }, waiting) {
      for (;;) {
        const time = timeOf(request, account.plan.limits.movetimeMaxMs);
        const entry = await limits.enter(account, time);
        if (entry.kind === "admitted") {
          setRateLimitHeaders(outcome, entry.windows);
          return new Meter(entry.admission, time);
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

  constructor(admission: Admission, time: SearchTime) {
    this.#admission = admission;
    this.terms = {
      ...time,
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

const { evaluate: single, evaluateBatch: batch } = AnalysisService.method;
type RequestMessage = MessageShape<typeof single.input>;

/**
 * What is said of a request before it is counted and an engine is asked for it, in one order: whether it is wrong
 * (400), then whether it is too much for the caller's plan (402). What is found is thrown, as a KibitzError.
 */
export interface Preflight {
  /** A request that has passed the rules of the proto: its position, engine, path and options, then its plan. */
  request(message: RequestMessage, account: Account): Promise<JudgedRequest>;
  /** A request that nobody has looked at, as the items of a batch are. */
  item(message: RequestMessage, account: Account): Promise<JudgedRequest>;
  /** A batch by itself, whatever its items are. */
  batch(items: number, account: Account): void;
  /** A request of the method, or an item of its batch. */
  message(message: Message, method: DescMethod, account: Account): Promise<void>;
}

/** Moves that are played or looked up for what one refusal counts for, and requests of a batch that are read. */
const movesForOne = 50;
const itemsForOne = 10;

/** What the refusal of a request counts for: more where a game has to be played to find it. */
export function costOf(message: Message): number {
  return isMessage(message, single.input)
    ? costOfMoves(message.moves.length + message.searchMoves.length)
    : 1;
}

export function costOfMoves(count: number): number {
  return 1 + count / movesForOne;
}

export interface PreflightOptions {
  readonly access: Access;
  readonly engines: KnownEngines;
  readonly rules: Rules;
}

export function createPreflight({ access, engines, rules }: PreflightOptions): Preflight {
  const { plans, selfService } = access;
  const upgrading = { plans, selfServicePlan: selfService?.plan };

  function judgeByRules(message: Message, desc: DescMethod["input"]): void {
    const faults = rules(message, desc);
    if (faults.length > 0) {
      throw errorFromFaults(faults);
    }
  }

  const judge: Preflight = {
    async request(message, account) {
      const { plan } = account;
      try {
        // While it is judged, others of the same caller may be refused.
        const check = () => refuseSpent(access.limits, account);
        const request = await judgeRequest(requestFromMessage(message), engines, check);
        const excess = excessOf(request, plan);
        if (excess.length > 0) {
          throw upgradeNeeded(excess, { ...upgrading, plan, runs: couldRun(request) });
        }
        return request;
      } catch (thrown) {
        throw thrown instanceof KibitzError ? withCost(thrown, costOf(message)) : thrown;
      }
    },
    async item(message, account) {
      judgeByRules(message, single.input);
      return judge.request(message, account);
    },
    batch(items, { plan }) {
      const excess = excessOfBatch(items, plan);
      if (excess.length > 0) {
        const runs = (other: typeof plan) => excessOfBatch(items, other).length === 0;
        throw withCost(upgradeNeeded(excess, { ...upgrading, plan, runs }), 1 + items / itemsForOne);
      }
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
    },
  };
  return judge;
}
