import { setTimeout as sleep } from "node:timers/promises";
import { create, type DescMessage, type Message } from "@bufbuild/protobuf";
import type { Call } from "../../calls/call.ts";
import { errorFromUnknown, KibitzError } from "../../errors/errors.ts";
import { problemFromError } from "../../errors/problem.ts";
import { isGone, writePart } from "../../http/message.ts";
import {
  type Answer,
  accepts,
  callOf,
  headersOfParts,
  jsonLines as lines,
  prefers,
  type StreamAnswerOptions,
  sendHead,
} from "./call.ts";
import { createMessageWriter } from "./codec/write-message.ts";
import { type BatchReading, createBatchReader } from "./read-batch.ts";
import type { Route } from "./routes.ts";
import { createReorderBuffer, peekStream } from "./streams.ts";

const json = "application/json";

const defaultHeadWaitMs = 10_000;

type Batch = Extract<BatchReading, { kind: "batch" }>;

/** The answer to one item, as JSON. */
interface ItemAnswer {
  readonly index: number;
  readonly text: string;
}

/**
 * Answers the items of a batch: as a JSON array in their order, or as ready, a line each, where Accept asks for
 * lines. An item that cannot be read is answered by its problem; the others are asked for.
 */
export function createBatchAnswer(route: Route, options: StreamAnswerOptions): Answer {
  const { headWaitMs = defaultHeadWaitMs } = options;
  const { output } = route.method;
  if (output.field.index === undefined) {
    throw new Error(`${output}: the answer to an item of a batch says by its index which it belongs to`);
  }
  const readBatch = createBatchReader(route.method, options);
  const call = options.calls.stream(route.method);
  const write = createMessageWriter(output);
  const problemField = problemFieldOf(output);
  const empty = JSON.parse(write(create(output)));

  const refusal = (index: number, error: KibitzError, requestId: string): ItemAnswer => {
    const problem = problemFromError(error, requestId);
    return { index, text: JSON.stringify({ ...empty, index, [problemField]: problem }) };
  };

  /** Before any answer: what refuses the call as a whole refuses it with a status. */
  async function begin(batch: Batch, context: Call) {
    try {
      return await peekStream(call(batch.message, context));
    } catch (thrown) {
      throw await batch.explain(thrown);
    }
  }

  /** What is answered at all costs: an error that ends the call once it has begun is that of every item still open. */
  async function* answersOf(batch: Batch, context: Call): AsyncGenerator<ItemAnswer> {
    const { all } = await begin(batch, context);
    const open = new Set(Array.from({ length: batch.count }, (_, index) => index));
    let error = new KibitzError("internal", "The batch ended before this item was answered.");
    try {
      for await (const answer of all) {
        const { index } = answer as Message & { index: number };
        open.delete(index);
        yield { index, text: write(answer) };
      }
    } catch (thrown) {
      error = errorFromUnknown(thrown);
    }
    for (const index of open) {
      yield refusal(index, error, context.request.id);
    }
  }

  return async (req, res, entry) => {
    const { accept } = req.headers;
    if (!accepts(accept, json) && !accepts(accept, lines)) {
      throw new KibitzError(
        "not_acceptable",
        `This call answers with ${json} or ${lines}; the Accept header excludes both.`,
      );
    }
    const asReady = prefers(accept, lines, json);
    const batch = await readBatch(req, entry);
    if (batch.kind === "left") {
      return;
    }
    const context = callOf(req, res, entry, route, batch.unreadable);
    const texts = textsOf(answersOf(batch, context), asReady);
    const all = asReady ? (await peekStream(texts)).all : await gather(texts, headWaitMs);
    sendHead(res, 200, headersOfParts(asReady ? lines : `${json}; charset=utf-8`), context.outcome);
    for await (const text of all) {
      if (!(await writePart(res, text))) {
        return;
      }
    }
    if (!isGone(res)) {
      res.end();
    }
  };
}

/** Waits for the end of a stream, or for so long, and gives all of it. Throws what the stream throws before its first text. */
async function gather(texts: AsyncGenerator<string>, waitMs: number): Promise<AsyncIterable<string>> {
  const early: string[] = [];
  const ended = new AbortController();
  const late = sleep(waitMs, undefined, { signal: ended.signal }).catch(() => undefined);
  let next = texts.next();
  try {
    let got: IteratorResult<string> | undefined = await next;
    while (got?.done === false) {
      early.push(got.value);
      next = texts.next();
      got = await Promise.race([next, late]);
    }
  } finally {
    ended.abort();
  }
  // It is awaited when the early ones are written.
  next.catch(() => {});
  return (async function* () {
    try {
      yield* early;
      for (let got = await next; !got.done; got = await texts.next()) {
        yield got.value;
      }
    } finally {
      await texts.return(undefined);
    }
  })();
}

async function* textsOf(answers: AsyncIterable<ItemAnswer>, asReady: boolean): AsyncGenerator<string> {
  const order = createReorderBuffer<string>();
  let before = "[";
  for await (const { index, text } of answers) {
    if (asReady) {
      yield `${text}\n`;
      continue;
    }
    for (const ready of order(index, text)) {
      yield before + ready;
      before = ",\n";
    }
  }
  if (!asReady) {
    yield "]\n";
  }
}

function problemFieldOf(output: DescMessage): string {
  const field = output.fields.find(({ message }) => message?.name === "Problem");
  if (field === undefined) {
    throw new Error(`${output}: the answer to an item of a batch may be a problem`);
  }
  return field.name;
}
