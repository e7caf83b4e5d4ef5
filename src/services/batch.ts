import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { reportWindows } from "../access/admit-call.ts";
import type { Call } from "../calls/call.ts";
import { messageFromAnalysis } from "../calls/convert.ts";
import { problemMessage } from "../calls/convert-problem.ts";
import { createMessageReader } from "../calls/plain/read-message.ts";
import { createRequestWriter } from "../calls/plain/write-message.ts";
import { createSuggest } from "../calls/suggest.ts";
import type { ErrorCode } from "../errors/catalog.ts";
import { errorFromUnknown } from "../errors/errors.ts";
import type { Log } from "../log/log.ts";
import { now } from "../time/time.ts";
import { activeSpan, inSpan } from "../tracing/spans.ts";
import {
  atOnceOf,
  flowOfLongCall,
  retryOverloaded,
  runConcurrently,
  type SearchingOptions,
} from "./many-searches.ts";

export interface BatchOptions extends SearchingOptions {
  readonly log: Pick<Log, "error">;
}

const { evaluate: single, evaluateBatch: batch } = AnalysisService.method;
type RequestMessage = MessageShape<typeof single.input>;
type Item = MessageInitShape<typeof batch.output>;

/**
 * The error quota counts at most this number of rejected items with a cost of 1. Items with a higher cost are always counted.
 */
const violationsMax = 20;

/** After one of these errors, all further items of the batch would be rejected with the same error. */
const lastingErrors: ReadonlySet<ErrorCode> = new Set(["rate_limited", "quota_exhausted"]);

/** Yields each answer as soon as the answer is ready. The answer to a rejected item contains the error. */
export function createBatchEvaluation(options: BatchOptions) {
  const { analyzer, validate, charge, access, beginWork, searchesAtOnce, log } = options;
  const readItem = createMessageReader(single.input);
  const writeItem = createRequestWriter(single.input);
  const suggest = createSuggest(single, validate.message, readItem);

  return async function* ({ requests }: MessageShape<typeof batch.input>, call: Call): AsyncGenerator<Item> {
    const { account, outcome, signal, unreadable = new Map<number, string>() } = call;
    const requestId = call.request.id;
    using _ = access.longCalls.begin(account, outcome);
    validate.batchSize(requests.length, account);
    // Retry while other items make progress, because items of this batch may use up the caller's searches in flight.
    let progressedAt = now();
    const turn = beginWork(() => signal.throwIfAborted());
    let violations = 0;
    /** If a rate limit has rejected an item, all further items are rejected without validation. */
    let isLimitReached = false;
    // Items that could not be decoded do not count as requests.
    const uncounted = new Set(requests.keys().filter((index) => !unreadable.has(index)));
    outcome.uncounted = uncounted.size;
    const settle = (index: number) => {
      uncounted.delete(index);
      outcome.uncounted = uncounted.size;
    };
    const sentOf = (index: number) => {
      const text = unreadable.get(index);
      return text === undefined ? writeItem(requests[index] as RequestMessage) : JSON.parse(text);
    };
    const validateItem = (index: number, signal: AbortSignal) => {
      const { message, violations } = unreadable.has(index)
        ? readItem(sentOf(index))
        : { message: requests[index], violations: [] };
      return validate.item(message as RequestMessage, { ...call, signal }, violations);
    };
    const reported = (index: number, thrown: unknown) => {
      const error = errorFromUnknown(thrown);
      if (error.code === "internal") {
        log.error({ err: thrown, requestId, index }, "an item of a batch failed");
      }
      return error;
    };
    /** Counts the error of an item, and adds a corrected request to the error. */
    const completed = async (index: number, thrown: unknown, either: AbortSignal) => {
      const refusal = reported(index, thrown);
      isLimitReached ||= lastingErrors.has(refusal.code);
      settle(index);
      await reportWindows(access.limits, account, outcome);
      await turn();
      const error = await suggest(refusal, sentOf(index), { ...call, signal: either });
      if (error.cost > 1 || ++violations <= violationsMax) {
        access.limits.errorQuota.count(account, error);
      }
      return error;
    };
    const answer = async (index: number, either: AbortSignal): Promise<Item> => {
      try {
        await turn();
        access.limits.errorQuota.check(account);
        if (isLimitReached) {
          await charge.refuseUsedUp(account);
        }
        const request = await validateItem(index, either);
        // Charge each attempt again, because an item that waits for a retry must not count as a search in flight.
        const search = async () => {
          using held = new DisposableStack();
          const counted = () => settle(index);
          const charged = await charge.request(request, call, held, { waiting: either, counted });
          const analysis = await analyzer.analyze(request, flowOfLongCall(call), either, charged.terms);
          charged.answered();
          return analysis;
        };
        const analysis = await retryOverloaded(search, either, { progressedAt: () => progressedAt });
        activeSpan()?.setAttribute("kibitz.code", "ok");
        return { index, outcome: { case: "result", value: messageFromAnalysis(analysis) } };
      } catch (thrown) {
        either.throwIfAborted();
        // An error that cannot be completed is the error of this item only.
        const error = await completed(index, thrown, either).catch((failure: unknown) => {
          either.throwIfAborted();
          return reported(index, failure);
        });
        activeSpan()?.setAttribute("kibitz.code", error.code);
        return { index, outcome: { case: "problem", value: problemMessage(error, requestId) } };
      } finally {
        progressedAt = now();
      }
    };
    const atOnce = atOnceOf(account, searchesAtOnce);
    const answerInSpan = (index: number, either: AbortSignal) =>
      inSpan("batch item", { attributes: { "kibitz.index": index }, signal: either }, () =>
        answer(index, either),
      );
    yield* runConcurrently(requests.length, atOnce, answerInSpan, signal);
  };
}
