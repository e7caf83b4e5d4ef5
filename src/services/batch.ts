import { setTimeout as sleep } from "node:timers/promises";
import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import type { Access } from "../access/access.ts";
import type { Account } from "../access/account.ts";
import { tellWindows } from "../access/entrance.ts";
import { refuseSpent } from "../access/limit-errors.ts";
import type { Analyzer } from "../analysis/analyzer.ts";
import type { Call } from "../calls/call.ts";
import { messageFromAnalysis } from "../calls/convert.ts";
import { problemMessage } from "../calls/convert-problem.ts";
import { createMessageReader, type MessageReading } from "../calls/plain/read-message.ts";
import { createRequestWriter } from "../calls/plain/write-message.ts";
import { withSuggestion } from "../calls/suggest.ts";
import type { ErrorCode } from "../errors/catalogue.ts";
import { errorFromUnknown, KibitzError } from "../errors/errors.ts";
import type { Log } from "../log/log.ts";
import type { BeginWork } from "../thread/event-loop.ts";
import type { AdmissionControl, Preflight } from "./admission.ts";

interface BatchOptions {
  readonly analyzer: Analyzer;
  /** Asked for each item, from the proto's rules on: in a batch, they are the item's own affair. */
  readonly judge: Preflight;
  readonly gate: AdmissionControl;
  readonly access: Access;
  /** Slices of the thread: an item of 600 moves takes milliseconds to judge, and may need no engine. */
  readonly beginWork: BeginWork;
  /** How many items of a batch may be under way: one more than the slots keeps them all busy. */
  readonly searchesAtOnce: number;
  readonly log: Pick<Log, "error">;
  /** Makes of what answers an item one that is watched, too. */
  readonly watched?: EachWatched | undefined;
}

/** @param name of what each of them is */
export type EachWatched = <T>(name: "batch item" | "position", start: Start<T>) => Start<T>;

type Start<T> = (index: number, signal: AbortSignal) => Promise<T>;

export const unwatched: EachWatched = (_, start) => start;

const { evaluate: single, evaluateBatch: batch } = AnalysisService.method;
type RequestMessage = MessageShape<typeof single.input>;
type Item = MessageInitShape<typeof batch.output>;

/** A request of a batch, and what was wrong with its JSON. */
interface ItemReading extends MessageReading {
  readonly message: RequestMessage;
}

/**
 * As many faults of one batch count in the error quota, unless it took work to find them: a client that has one field wrong in each of
 * 200 items must not be locked out for a minute.
 */
const faultsMax = 20;

/** Refusals that every further item would meet, too, until their time is over. */
const lasting: ReadonlySet<ErrorCode> = new Set(["rate_limited", "quota_exhausted"]);

/** Answers the requests of a batch as they are ready. An item that is refused has its error in its own answer. */
export function createBatchEvaluation(options: BatchOptions) {
  const { analyzer, judge, gate, access, beginWork, searchesAtOnce, log, watched = unwatched } = options;
  const readItem = createMessageReader(single.input) as (json: unknown) => ItemReading;
  const writeItem = createRequestWriter(single.input);
  const validate = ({ message, faults }: ItemReading, account: Account) =>
    judge.item(message, account, faults);

  async function evaluate(
    item: ItemReading,
    call: Call,
    progressedAt: () => number,
    signal: AbortSignal,
    counted: () => void,
  ) {
    const request = await validate(item, call.account);
    // Admitted anew each time: an item that waits to be tried again must not take a place from the caller's other searches.
    const run = async () => {
      using admitted = await gate.admit(request, call, { waiting: signal, counted });
      const analysis = await analyzer.analyze(request, flowOf(call), signal, admitted.terms);
      admitted.answered();
      return analysis;
    };
    return retryOverloaded(run, signal, { progressedAt });
  }

  return async function* ({ requests }: MessageShape<typeof batch.input>, call: Call): AsyncGenerator<Item> {
    const { account, outcome, signal, unreadable = new Map<number, string>() } = call;
    const requestId = call.request.id;
    using _ = access.longCalls.begin(account, outcome);
    judge.batch(requests.length, account);
    // An item waits as long as the others go on: what keeps it waiting may be its own batch.
    let progressedAt = performance.now();
    const turn = beginWork(() => signal.throwIfAborted());
    /** Items whose faults were found without work. */
    let faults = 0;
    /** True once an item was refused by a limit that refuses the following ones, too: they are not checked any more. */
    let used = false;
    // Items that could not be decoded are refused and count as no request.
    const uncounted = new Set(requests.keys().filter((index) => !unreadable.has(index)));
    outcome.uncounted = uncounted.size;
    const settle = (index: number) => {
      uncounted.delete(index);
      outcome.uncounted = uncounted.size;
    };
    const readingOf = (index: number): ItemReading => {
      const text = unreadable.get(index);
      return text === undefined
        ? { message: requests[index] as RequestMessage, faults: [] }
        : readItem(JSON.parse(text));
    };
    /** Completes the error of an item with the nearest request that would be answered. */
    const suggest = (error: KibitzError, index: number) => {
      const text = unreadable.get(index);
      const sent = text === undefined ? writeItem(requests[index] as RequestMessage) : JSON.parse(text);
      return withSuggestion(error, sent, async (candidate) => {
        await turn();
        await validate(readItem(candidate), account);
      });
    };
    const answer = async (index: number, either: AbortSignal): Promise<Item> => {
      try {
        await turn();
        refuseSpent(access.limits, account);
        if (used) {
          await gate.refuseUsedUp(account);
        }
        const analysis = await evaluate(
          readingOf(index),
          call,
          () => progressedAt,
          either,
          () => settle(index),
        );
        return { index, outcome: { case: "result", value: messageFromAnalysis(analysis) } };
      } catch (thrown) {
        either.throwIfAborted();
        const error = errorFromUnknown(thrown);
        used ||= lasting.has(error.code);
        settle(index);
        await tellWindows(access.limits, account, outcome);
        if (error.code === "internal") {
          log.error({ err: thrown, requestId, index }, "an item of a batch failed");
        }
        const suggested = await suggest(error, index);
        if (suggested.cost > 1 || ++faults <= faultsMax) {
          access.limits.refusals.count(account, suggested);
        }
        return { index, outcome: { case: "problem", value: problemMessage(suggested, requestId) } };
      } finally {
        progressedAt = performance.now();
      }
    };
    const atOnce = atOnceOf(account, searchesAtOnce);
    yield* runConcurrently(requests.length, atOnce, watched("batch item", answer), signal);
  };
}

/** The queue's flow of a call with many searches: beside its caller's single requests it is one more caller, not two hundred. */
export function flowOf({ account, request }: Call): string {
  return `${account.subject}#${request.id}`;
}

/** How many searches of one call may be under way: as many as their caller may have. */
export function atOnceOf({ plan }: Account, searchesAtOnce: number): number {
  return Math.min(searchesAtOnce, plan.limits.concurrent ?? searchesAtOnce);
}

/**
 * Starts tasks in their order and yields each result when it is ready. A slow reader slows the starting down: running
 * tasks and results that wait for the reader are at most `atOnce` together.
 *
 * @param start starts the task with an index. Its signal is aborted when the reader leaves or a task fails.
 */
export async function* runConcurrently<T>(
  count: number,
  atOnce: number,
  start: Start<T>,
  signal: AbortSignal,
): AsyncGenerator<T> {
  const left = new AbortController();
  const either = AbortSignal.any([signal, left.signal]);
  const running = new Map<number, Promise<{ readonly index: number; readonly result: T }>>();
  let next = 0;
  try {
    while (next < count || running.size > 0) {
      for (; next < count && running.size < atOnce; next++) {
        const index = next;
        running.set(
          index,
          start(index, either).then((result) => ({ index, result })),
        );
      }
      const { index, result } = await Promise.race(running.values());
      running.delete(index);
      yield result;
    }
  } finally {
    left.abort(new Error("the reader left"));
    await Promise.allSettled(running.values());
  }
}

/**
 * The shortest and longest pause before a retry, in milliseconds. The `retryAfterMs` of a refusal may be 0, or far too
 * long, because slots may be free earlier; and a server that stops waits for this pause.
 */
const pauseMinMs = 100;
const pauseMaxMs = 1000;

interface RetryOptions {
  /** When the work that the task belongs to last progressed, by `performance.now()`. */
  readonly progressedAt: () => number;
  /** How long to retry without progress, in milliseconds. */
  readonly patienceMs?: number;
}

/**
 * Retries a task that is refused as `overloaded` until the work has made no progress for a minute. For callers that wait anyway.
 *
 * @throws the last error of the task; an AbortError if the caller disconnects
 */
export async function retryOverloaded<T>(
  task: () => Promise<T>,
  signal: AbortSignal,
  { progressedAt, patienceMs = 60_000 }: RetryOptions,
): Promise<T> {
  for (;;) {
    try {
      return await task();
    } catch (thrown) {
      const isOverloaded = thrown instanceof KibitzError && thrown.code === "overloaded";
      if (!isOverloaded || performance.now() - progressedAt() >= patienceMs) {
        throw thrown;
      }
      const pauseMs = Math.min(Math.max(thrown.retryAfterMs ?? pauseMaxMs, pauseMinMs), pauseMaxMs);
      await sleep(pauseMs, undefined, { signal });
    }
  }
}
