import { create, type DescMethod, type Message } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { AnalysisRequestSchema } from "../../gen/chess/analysis/v1/analysis_pb.ts";
import { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { type Call, localCall } from "../../src/calls/call.ts";
import { type Middleware, withReport, withSuggestions } from "../../src/calls/middleware.ts";
import { errorFromViolations, KibitzError } from "../../src/errors/errors.ts";
import { createCallLine } from "../../src/log/call-line.ts";
import { type Log, silentLog } from "../../src/log/log.ts";
import { ClientDisconnected } from "../../src/request/context.ts";

const { evaluate, evaluateBatch, streamEvaluate } = AnalysisService.method;
const request = create(AnalysisRequestSchema, { fen: "x" });
const mistake = new TypeError("mistake");
const rejection = new KibitzError("invalid_fen", "bad");

function ask(
  method: DescMethod,
  middleware: Middleware,
  handler: (call: Call) => Promise<Message> | AsyncIterable<Message>,
  call: Partial<Call> & { readonly message?: Message } = {},
) {
  const { message = request, ...rest } = call;
  const wrapped = middleware(async function* (_, asked) {
    const answer = handler(asked);
    for await (const one of Symbol.asyncIterator in answer ? answer : [answer]) {
      yield one;
    }
  }, method);
  const messages = wrapped(message, { ...localCall(method), ...rest });
  return method.methodKind === "unary" ? answersOf(messages).then(([only]) => only) : messages;
}

async function* messages(...items: readonly (Message | Error)[]): AsyncGenerator<Message> {
  for (const item of items) {
    if (item instanceof Error) {
      throw item;
    }
    yield item;
  }
}

const one = create(evaluate.output, { summary: "one" });
const two = create(evaluate.output, { summary: "two" });
const answersOf = (answer: unknown) => Array.fromAsync(answer as AsyncIterable<Message>);

function recording(level?: "debug") {
  const lines: unknown[] = [];
  const write = (of: string) => (fields: Parameters<Log["info"]>[0]) => lines.push([of, fields.code]);
  const log = { ...silentLog, debug: write("debug"), info: write("info"), error: write("error") };
  return { lines, log: withReport(createCallLine(log, "none", level)) };
}

test("a finished call writes a log line with the method, protocol, code and duration", async () => {
  const lines: unknown[] = [];
  const log = { ...silentLog, info: (fields: object, message: string) => lines.push([message, fields]) };
  const { request: context } = localCall(evaluate);
  await ask(evaluate, withReport(createCallLine(log, "none")), async () => one, {
    request: { ...context, id: "id-1", protocol: "grpc" },
  });
  expect(lines).toEqual([
    ["call", { requestId: "id-1", protocol: "grpc", method: "Evaluate", ms: expect.any(Number), code: "ok" }],
  ]);
});

test("a health check is logged at level debug, and its internal error at level error", async () => {
  const { lines, log } = recording("debug");
  await ask(evaluate, log, async () => one);
  await expect(ask(evaluate, log, () => Promise.reject(mistake))).rejects.toBe(mistake);
  expect(lines).toEqual([
    ["debug", "ok"],
    ["error", "internal"],
  ]);
});

test.each([
  ["a rejection", rejection, "info", "invalid_fen"],
  ["a TypeError", mistake, "error", "internal"],
  ["a deadline", new KibitzError("deadline_exceeded", "late"), "info", "deadline_exceeded"],
])(
  "a call that fails with %s is logged with the code of its error, and the error is not changed",
  async (_, error, level, code) => {
    const { lines, log } = recording();
    await expect(ask(evaluate, log, () => Promise.reject(error))).rejects.toBe(error);
    expect(lines).toEqual([[level, code]]);
  },
);

test.each([
  ["ClientDisconnected", new ClientDisconnected(), "canceled"],
  ["any other reason", new Error("interrupted"), "canceled"],
  ["a deadline", new KibitzError("deadline_exceeded", "late"), "deadline_exceeded"],
])(
  "a call that fails because its signal was aborted with %s is not logged as an error",
  async (_, reason, code) => {
    const { lines, log } = recording();
    const signal = AbortSignal.abort(reason);
    const aborted = new DOMException("aborted", "AbortError");
    for (const thrown of [reason, aborted]) {
      await expect(ask(evaluate, log, () => Promise.reject(thrown), { signal })).rejects.toBe(reason);
    }
    expect(lines).toEqual([
      ["info", code],
      ["info", code],
    ]);
  },
);

test("a TypeError is logged as an error even after the caller has disconnected", async () => {
  const { lines, log } = recording();
  const signal = AbortSignal.abort(new ClientDisconnected());
  await expect(ask(evaluate, log, () => Promise.reject(mistake), { signal })).rejects.toBe(mistake);
  expect(lines).toEqual([["error", "internal"]]);
});

test("a stream writes one log line at its end", async () => {
  const { lines, log } = recording();
  const answer = ask(streamEvaluate, log, () => messages(one, two));
  expect(lines).toEqual([]);
  expect(await answersOf(answer)).toEqual([one, two]);
  expect(lines).toEqual([["info", "ok"]]);
});

test("a failed stream is logged with the code of its error", async () => {
  const { lines, log } = recording();
  const answer = ask(streamEvaluate, log, () => messages(one, rejection));
  await expect(answersOf(answer)).rejects.toBe(rejection);
  expect(lines).toEqual([["info", "invalid_fen"]]);
});

test.each([
  ["stops reading", (reader: AsyncIterator<Message>) => reader.return?.()],
  ["fails", (reader: AsyncIterator<Message>) => reader.throw?.(mistake).catch(() => {})],
])(
  "a stream is logged as canceled if the client %s, and the handler of the stream ends",
  async (_, leave) => {
    const { lines, log } = recording();
    let ended = false;
    const answer = ask(streamEvaluate, log, async function* () {
      try {
        yield* messages(one, two);
      } finally {
        ended = true;
      }
    });
    const reader = (answer as AsyncIterable<Message>)[Symbol.asyncIterator]();
    expect((await reader.next()).value).toBe(one);
    await leave(reader);
    expect(lines).toEqual([["info", "canceled"]]);
    expect(ended).toBe(true);
  },
);

describe("suggestions", () => {
  const tooDeep = errorFromViolations([
    { pointer: "/depth", code: "out_of_range", message: "Too deep.", allowed: { minimum: 1, maximum: 9 } },
  ]);
  const tooMany = errorFromViolations([
    { pointer: "/requests", code: "out_of_range", message: "Too many.", allowed: { maxItems: 1 } },
  ]);
  const deep = create(AnalysisRequestSchema, { fen: "startpos", depth: 12 });
  const batch = create(evaluateBatch.input, { requests: [deep, deep] });

  test("an error about a batch contains a corrected request only if the batch is short and completely readable", async () => {
    const suggested = async (readBytes: number, unreadable: Call["unreadable"] = new Map()) => {
      const outcome = { ...localCall(evaluateBatch).outcome, readBytes };
      const call = { message: batch, outcome, unreadable };
      const answer = ask(
        evaluateBatch,
        withSuggestions(async () => {}),
        () => messages(tooMany),
        call,
      );
      const error = await answersOf(answer).catch((thrown: KibitzError) => thrown);
      return (error as KibitzError).suggestedRequest;
    };
    expect(await suggested(65_536)).toEqual({ requests: [{ fen: "startpos", depth: 12 }] });
    expect(await suggested(65_537)).toBeUndefined();
    expect(await suggested(100, new Map([[0, "{}"]]))).toBeUndefined();
  });

  test("an exception during the creation of a suggestion is logged as an internal error", async () => {
    const { lines, log } = recording();
    const suggesting = withSuggestions(() => Promise.reject(mistake));
    const both: Middleware = (handler, method) => log(suggesting(handler, method), method);
    const answer = ask(evaluate, both, () => Promise.reject(tooDeep), { message: deep });
    await expect(answer).rejects.toBe(mistake);
    expect(lines).toEqual([["error", "internal"]]);
  });
});
