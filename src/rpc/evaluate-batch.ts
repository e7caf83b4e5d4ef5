import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import type { Analyzer } from "../analysis/analyzer.ts";
import type { ErrorCode } from "../errors/catalogue.ts";
import { errorFromUnknown, type KibitzError } from "../errors/errors.ts";
import { withSuggestion } from "../errors/with-suggestion.ts";
import type { Log } from "../log/log.ts";
import { asReady } from "./as-ready.ts";
import { messageFromAnalysis, messageFromPlain, plainFromMessage } from "./convert.ts";
import { problemMessage } from "./convert-problem.ts";
import type { Asker, Gate } from "./gate.ts";
import type { Judge } from "./judge.ts";
import { retryOverloaded } from "./retry-overloaded.ts";
import { createSlices } from "./slices.ts";

export interface BatchOptions {
  readonly analyzer: Analyzer;
  /** Asked for each item, from the proto's rules on: in a batch, they are the item's own affair. */
  readonly judge: Judge;
  readonly gate: Gate;
  /** How many items of a batch may be under way: one more than the slots keeps them all busy. */
  readonly itemsAtOnce: number;
  readonly log: Pick<Log, "error">;
}

const { evaluate: single, evaluateBatch: batch } = AnalysisService.method;
type RequestMessage = MessageShape<typeof single.input>;
type Item = MessageInitShape<typeof batch.output>;

/** Refusals that every further item would meet, too, until their time is over. */
const lasting: ReadonlySet<ErrorCode> = new Set(["rate_limited", "quota_exhausted"]);

/** Answers the requests of a batch as they are ready. What is wrong with one is told in its own answer. */
export function createBatchEvaluation(options: BatchOptions) {
  const { analyzer, judge, gate, itemsAtOnce, log } = options;
  // To judge an item of 600 moves takes up to ten milliseconds, and it may need no engine.
  const beginWork = createSlices();

  async function evaluate(
    message: RequestMessage,
    asker: Asker,
    flow: string,
    since: () => number,
    signal: AbortSignal,
  ) {
    const request = await judge.item(message, asker.account);
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
    judge.batch(requests.length, account);
    // An item waits as long as the others go on: what keeps it waiting may be its own batch.
    let progressedAt = performance.now();
    const turn = beginWork();
    let refused: { readonly by: KibitzError; readonly until: number } | undefined;
    const answer = async (index: number, either: AbortSignal): Promise<Item> => {
      const message = requests[index] as RequestMessage;
      try {
        await turn();
        if (refused && performance.now() < refused.until) {
          throw refused.by;
        }
        const analysis = await evaluate(message, asker, flow, () => progressedAt, either);
        return { index, outcome: { case: "result", value: messageFromAnalysis(analysis) } };
      } catch (thrown) {
        either.throwIfAborted();
        const error = errorFromUnknown(thrown);
        if (lasting.has(error.code) && error !== refused?.by) {
          refused = { by: error, until: performance.now() + (error.retryAfterMs ?? 0) };
        }
        if (error.code === "internal") {
          log.error({ err: thrown, requestId, index }, "an item of a batch failed");
        }
        const suggested = await withSuggestion(error, plainFromMessage(message), (candidate) =>
          judge.item(messageFromPlain(candidate), account),
        );
        return { index, outcome: { case: "problem", value: problemMessage(suggested, requestId) } };
      } finally {
        progressedAt = performance.now();
      }
    };
    const atOnce = Math.min(itemsAtOnce, account.plan.limits.concurrent ?? itemsAtOnce);
    return asReady(requests.length, atOnce, answer, signal);
  };
}
