import { type DescMethod, isMessage, type Message, type MessageShape } from "@bufbuild/protobuf";
import { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { GameService } from "../../gen/chess/analysis/v1/game_service_pb.ts";
import type { Access } from "../access/access.ts";
import type { Account } from "../access/account.ts";
import { excessOf, excessOfBatch, excessOfReview, upgradeNeeded } from "../access/over-plan.ts";
import type { Plan } from "../access/plans.ts";
import type { ValidatedRequest } from "../analysis/analysis.ts";
import { type KnownEngines, validateRequest } from "../analysis/validate-request.ts";
import type { ReadCall } from "../calls/call.ts";
import { requestFromMessage } from "../calls/convert.ts";
import { searchOfReview } from "../calls/convert-review.ts";
import { costOf } from "../calls/policy.ts";
import { checkRules } from "../calls/rules.ts";
import type { Position } from "../chess/position.ts";
import { errorFromPositionViolations } from "../chess/position-error.ts";
import { costOfMoves, KibitzError, refuseViolations, type Violation, withCost } from "../errors/errors.ts";
import type { BeginWork } from "../thread/time-slices.ts";
import { readReview, type ValidatedReview, validateReview } from "./validate-review.ts";

const { evaluate: single, evaluateBatch: batch, probeTablebase } = AnalysisService.method;
const { reviewGame } = GameService.method;
type RequestMessage = MessageShape<typeof single.input>;
type ReviewMessage = MessageShape<typeof reviewGame.input>;

/** Rejecting a batch of n items costs 1 + n / 10 of the error quota. */
const itemsForOne = 10;

interface ValidateOptions {
  readonly access: Access;
  readonly engines: KnownEngines;
  readonly beginWork: BeginWork;
}

/** An invalid request gets status 400. A request that exceeds the plan gets status 402. */
export type Validate = ReturnType<typeof createValidate>;

export function createValidate({ access, engines, beginWork }: ValidateOptions) {
  const { selfService } = access;
  function refuseExcess(excessIn: Parameters<typeof upgradeNeeded>[0], plan: Plan, cost: number): void {
    const error = upgradeNeeded(excessIn, {
      plans: access.plans,
      plan,
      hasSelfService: selfService !== undefined,
    });
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
    const { plan } = call.account;
    const cost = costOf(message);
    const check = beginCheck(call, cost);
    check();
    try {
      const validated = await validateRequest(requestFromMessage(message), engines, plan.limits, check);
      refuseExcess((one) => excessOf(validated, one), plan, cost);
      return validated;
    } catch (thrown) {
      throw thrown instanceof KibitzError ? withCost(thrown, cost) : thrown;
    }
  }

  /** Validates an item, and checks the rules in the proto file. `found` contains the violations from decoding the JSON. */
  async function item(message: RequestMessage, call: ReadCall, found?: readonly Violation[]) {
    refuseViolations(checkRules(message, single.input, found));
    return request(message, call);
  }

  /** Validates the review, and checks the limits of the plan. The caller has already checked the rules in the proto file. */
  async function review(message: ReviewMessage, call: ReadCall): Promise<ValidatedReview> {
    const { plan } = call.account;
    const turn = beginWork(beginCheck(call, costOf(message)));
    const read = await readReview(message, searchOfReview(message), { engines, allowed: plan.limits, turn });
    const { limits } = read;
    refuseExcess((one) => excessOfReview(limits, one), plan, costOfMoves(limits.plies));
    return validateReview(read, { engines, allowed: plan.limits, turn });
  }

  /** Validates a position that is not searched. */
  async function position(fen: string): Promise<Position> {
    const validation = await engines.validatePosition({ fen, moves: [], chess960: undefined });
    if (validation.kind === "violations") {
      throw errorFromPositionViolations(validation);
    }
    return validation.position;
  }

  function batchSize(items: number, { plan }: Account): void {
    refuseExcess((one) => excessOfBatch(items, one), plan, 1 + items / itemsForOne);
  }

  async function message(sent: Message, method: DescMethod, call: ReadCall): Promise<void> {
    if (isMessage(sent, single.input)) {
      await item(sent, call);
      return;
    }
    refuseViolations(checkRules(sent, method.input));
    if (isMessage(sent, batch.input)) {
      batchSize(sent.requests.length, call.account);
    }
    if (isMessage(sent, probeTablebase.input)) {
      await position(sent.fen);
    }
    if (isMessage(sent, reviewGame.input)) {
      await review(sent, call);
    }
  }

  return { request, item, review, position, batchSize, message };
}
