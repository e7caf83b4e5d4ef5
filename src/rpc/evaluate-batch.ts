import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import type { Analyzer } from "../analysis/analyzer.ts";
import { judgeRequest, type KnownEngines } from "../analysis/judge-request.ts";
import { errorFromFaults, errorFromUnknown } from "../errors.ts";
import type { Log } from "../log/log.ts";
import type { Asker, Gate } from "./admit.ts";
import { asReady } from "./as-ready.ts";
import { messageFromAnalysis, requestFromMessage } from "./convert.ts";
import { problemMessage } from "./convert-problem.ts";
import { retryOverloaded } from "./retry-overloaded.ts";
import type { Rules } from "./rules.ts";

export interface BatchOptions {
  readonly analyzer: Analyzer;
  readonly engines: KnownEngines;
  readonly gate: Gate;
  /** Asked for each item: in a batch, the proto's rules for an item are the item's own affair. */
  readonly rules: Rules;
  /** How many items of a batch may be under way: one more than the slots keeps them all busy. */
  readonly itemsAtOnce: number;
  readonly log: Pick<Log, "error">;
}

const { evaluate: single, evaluateBatch: batch } = AnalysisService.method;
type Item = MessageInitShape<typeof batch.output>;

/** Answers the requests of a batch as they are ready. What is wrong with one is told in its own answer. */
export function createBatchEvaluation(options: BatchOptions) {
  const { analyzer, engines, gate, rules, itemsAtOnce, log } = options;

  async function evaluate(
    message: MessageShape<typeof single.input>,
    asker: Asker,
    flow: string,
    since: () => number,
    signal: AbortSignal,
  ) {
    const faults = rules(message, single.input);
    if (faults.length > 0) {
      throw errorFromFaults(faults);
    }
    const request = await judgeRequest(requestFromMessage(message), engines);
    using admitted = await gate.admit(request, asker, signal);
    const run = () => analyzer.analyze(request, flow, signal, admitted.terms);
    const analysis = await retryOverloaded(run, signal, { since });
    admitted.answered();
    return analysis;
  }

  return (
    { requests }: MessageShape<typeof batch.input>,
    asker: Asker,
    signal: AbortSignal,
  ): AsyncIterable<Item> => {
    // A flow of its own: beside the caller's single requests a batch is one more caller, not two hundred.
    const { account, caller } = asker;
    const { requestId } = caller;
    const flow = `${account.subject}#${requestId}`;
    gate.judgeBatch(requests.length, account);
    // An item waits as long as the others go on: what keeps it waiting may be its own batch.
    let progressedAt = performance.now();
    const answer = async (index: number, either: AbortSignal): Promise<Item> => {
      try {
        const analysis = await evaluate(
          requests[index] as MessageShape<typeof single.input>,
          asker,
          flow,
          () => progressedAt,
          either,
        );
        return { index, outcome: { case: "result", value: messageFromAnalysis(analysis) } };
      } catch (thrown) {
        either.throwIfAborted();
        const error = errorFromUnknown(thrown);
        if (error.code === "internal") {
          log.error({ err: thrown, requestId, index }, "an item of a batch failed");
        }
        return { index, outcome: { case: "problem", value: problemMessage(error, requestId) } };
      } finally {
        progressedAt = performance.now();
      }
    };
    const atOnce = Math.min(itemsAtOnce, account.plan.limits.concurrent ?? itemsAtOnce);
    return asReady(requests.length, atOnce, answer, signal);
  };
}
