import { type DescMethod, isMessage, type Message, type MessageShape } from "@bufbuild/protobuf";
import { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import type { Access } from "../access/access.ts";
import type { Account } from "../access/account.ts";
import { refuseSpent } from "../access/entrance.ts";
import { couldRun, excessOf, excessOfBatch, upgradeNeeded } from "../access/over-plan.ts";
import type { JudgedRequest } from "../analysis/analysis.ts";
import { judgeRequest, type KnownEngines } from "../analysis/judge-request.ts";
import { errorFromFaults, KibitzError, withCost } from "../errors/errors.ts";
import { requestFromMessage } from "./convert.ts";
import type { Rules } from "./rules.ts";

const { evaluate: single, evaluateBatch: batch } = AnalysisService.method;
type RequestMessage = MessageShape<typeof single.input>;

/**
 * What is said of a request before it is counted and an engine is asked for it, in one order: whether it is wrong
 * (400), then whether it is too much for the caller's plan (402). What is found is thrown, as a KibitzError.
 */
export interface Judge {
  /** A request that has passed the rules of the proto: its position, engine, path and options, then its plan. */
  request(message: RequestMessage, account: Account): Promise<JudgedRequest>;
  /** A request that nobody has looked at, as the items of a batch are. */
  item(message: RequestMessage, account: Account): Promise<JudgedRequest>;
  /** A batch by itself, whatever its items are. */
  batch(items: number, account: Account): void;
  /** A request of the method, or an item of its batch. */
  message(message: Message, method: DescMethod, account: Account): Promise<void>;
}

/** Moves that are played for what one refusal counts for, and requests of a batch that are read. */
const movesForOne = 50;
const itemsForOne = 10;

/** What the refusal of a request counts for: more where a game has to be played to find it. */
export function costOf(message: Message): number {
  return isMessage(message, single.input) ? costOfMoves(message.moves.length) : 1;
}

export function costOfMoves(count: number): number {
  return 1 + count / movesForOne;
}

export interface JudgeOptions {
  readonly access: Access;
  readonly engines: KnownEngines;
  readonly rules: Rules;
}

export function createJudge({ access, engines, rules }: JudgeOptions): Judge {
  const { plans, selfService } = access;
  const upgrading = { plans, selfServicePlan: selfService?.plan };

  function judgeByRules(message: Message, desc: DescMethod["input"]): void {
    const faults = rules(message, desc);
    if (faults.length > 0) {
      throw errorFromFaults(faults);
    }
  }

  const judge: Judge = {
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
