import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import type { Access } from "../access/access.ts";
import type { Account } from "../access/account.ts";
import { refuseSpent } from "../access/entrance.ts";
import type { Analyzer } from "../analysis/analyzer.ts";
import type { ErrorCode } from "../errors/catalogue.ts";
import { errorFromUnknown, type KibitzError } from "../errors/errors.ts";
import { withSuggestion } from "../errors/with-suggestion.ts";
import type { Log } from "../log/log.ts";
import type { BeginWork, Turn } from "../time-slicer.ts";
import { asReady } from "./as-ready.ts";
import type { UnreadableItem } from "./context-keys.ts";
import { messageFromAnalysis, messageFromPlain, plainFromMessage } from "./convert.ts";
import { problemMessage } from "./convert-problem.ts";
import type { Asker, Gate } from "./gate.ts";
import type { Judge } from "./judge.ts";
import { retryOverloaded } from "./retry-overloaded.ts";

export interface BatchOptions {
  readonly analyzer: Analyzer;
  /** Asked for each item, from the proto's rules on: in a batch, they are the item's own affair. */
  readonly judge: Judge;
  readonly gate: Gate;
  readonly access: Access;
  /** Slices of the thread: an item of 600 moves takes milliseconds to judge, and may need no engine. */
  readonly beginWork: BeginWork;
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
  const { analyzer, judge, gate, access, beginWork, itemsAtOnce, log } = options;
  async function evaluate(
    message: RequestMessage,
    asker: Asker,
    flow: string,
    since: () => number,
    signal: AbortSignal,
  ) {
    const request = await judge.item(message, asker.account);
    // Admitted anew each time: an item that waits to be tried again must not take a place from the caller's other searches.
    const run = async () => {
      using admitted = await gate.admit(request, asker, signal);
      const analysis = await analyzer.analyze(request, flow, signal, admitted.terms);
      admitted.answered();
      return analysis;
    };
    return retryOverloaded(run, signal, { since });
  }

  /** What is wrong with an item that could not be read. */
  function refuseUnread(unread: UnreadableItem): never {
    throw unread.explain();
  }

  /** The nearest request that would be answered, in the words of the item's sender. */
  function suggest(
    error: KibitzError,
    message: RequestMessage,
    unread: UnreadableItem | undefined,
    account: Account,
    turn: Turn,
  ): Promise<KibitzError> {
    return withSuggestion(error, unread?.sent ?? plainFromMessage(message), async (candidate) => {
      await turn();
      await judge.item(
        unread ? (unread.read(candidate) as RequestMessage) : messageFromPlain(candidate),
        account,
      );
    });
  }

  return (
    { requests }: MessageShape<typeof batch.input>,
    asker: Asker,
    unreadable: ReadonlyMap<number, UnreadableItem>,
    signal: AbortSignal,
  ): AsyncIterable<Item> => {
    // A flow of its own: beside the caller's single requests a batch is one more caller, not two hundred.
    const { account, caller } = asker;
    const { requestId } = caller;
    const flow = `${account.subject}#${requestId}`;
    judge.batch(requests.length, account);
    // An item waits as long as the others go on: what keeps it waiting may be its own batch.
    let progressedAt = performance.now();
    const turn = beginWork(() => signal.throwIfAborted());
    /** Whether an item was refused for what further ones would be refused for, too: they are not judged for that. */
    let used = false;
    const answer = async (index: number, either: AbortSignal): Promise<Item> => {
      const message = requests[index] as RequestMessage;
      const unread = unreadable.get(index);
      try {
        await turn();
        refuseSpent(access.limits, account);
        if (used) {
          await gate.refuseUsedUp(account);
        }
        if (unread) {
          refuseUnread(unread);
        }
        const analysis = await evaluate(message, asker, flow, () => progressedAt, either);
        return { index, outcome: { case: "result", value: messageFromAnalysis(analysis) } };
      } catch (thrown) {
        either.throwIfAborted();
        const error = errorFromUnknown(thrown);
        used ||= lasting.has(error.code);
        if (error.code === "internal") {
          log.error({ err: thrown, requestId, index }, "an item of a batch failed");
        }
        const suggested = await suggest(error, message, unread, account, turn);
        access.limits.refusals.count(account, suggested);
        return { index, outcome: { case: "problem", value: problemMessage(suggested, requestId) } };
      } finally {
        progressedAt = performance.now();
      }
    };
    const atOnce = Math.min(itemsAtOnce, account.plan.limits.concurrent ?? itemsAtOnce);
    return asReady(requests.length, atOnce, answer, signal);
  };
}
