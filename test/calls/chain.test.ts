import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, createContextValues, type Interceptor } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { AnalysisRequestSchema } from "../../gen/chess/analysis/v1/analysis_pb.ts";
import { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { logCalls, validate } from "../../src/calls/chain.ts";
import { outcomeKey, requestKey, responseHeaderKey } from "../../src/calls/context-keys.ts";
import { createRules } from "../../src/calls/rules.ts";
import { KibitzError } from "../../src/errors/errors.ts";
import { createCallLine } from "../../src/log/call-line.ts";
import { silentLog } from "../../src/log/log.ts";
import { errorFromConnect } from "../../src/protocols/connect/errors.ts";
import { connectErrors } from "../../src/protocols/connect/interceptors.ts";
import {
  createOutcome,
  localContext,
  type RequestContext,
  type RequestOutcome,
} from "../../src/request/context.ts";

interface Answer {
  readonly header: Headers;
  readonly message: AsyncIterable<unknown>;
}

interface Asked {
  readonly context?: Partial<RequestContext>;
  readonly outcome?: RequestOutcome;
  readonly signal?: AbortSignal;
  readonly fen?: string;
  readonly stream?: boolean;
  /** Of the answer that Connect is going to send. */
  readonly header?: Headers;
}

/** Runs an interceptor in front of a method, as Connect does. */
async function run(
  interceptor: Interceptor,
  method: (request: Answer) => unknown,
  { context, outcome = createOutcome(), signal, fen = "x", stream = false, header }: Asked = {},
): Promise<Answer> {
  const message = create(AnalysisRequestSchema, { fen });
  const request = {
    stream,
    method: stream ? AnalysisService.method.streamEvaluate : AnalysisService.method.evaluate,
    contextValues: createContextValues()
      .set(requestKey, { ...localContext(), id: "id-1", ...context })
      .set(outcomeKey, outcome)
      .set(responseHeaderKey, header),
    signal: signal ?? new AbortController().signal,
    message: stream ? messages(message) : message,
  };
  return (await interceptor(method as never)(request as never)) as unknown as Answer;
}

async function* messages<T>(...items: readonly (T | Error)[]): AsyncGenerator<T> {
  for (const item of items) {
    if (item instanceof Error) {
      throw item;
    }
    yield item;
  }
}

const answer = () => ({ stream: false, header: new Headers(), message: {} });
const streaming =
  (...items: readonly unknown[]) =>
  () => ({
    stream: true,
    header: new Headers(),
    message: messages(...items),
  });
const refuse = (error: unknown) => () => {
  throw error;
};
const refusal = new KibitzError("invalid_fen", "bad");

describe("a line in the log", () => {
  function recording() {
    const lines: unknown[] = [];
    const write = (level: string) => (fields: Readonly<Record<string, unknown>>) => {
      lines.push([level, fields.code]);
    };
    return {
      lines,
      logged: logCalls(
        createCallLine({ ...silentLog, info: write("info"), error: write("error") }, () => undefined),
        errorFromConnect,
      ),
    };
  }

  test("a line in the log says the caller, the call, its protocol, and its time", async () => {
    const lines: unknown[] = [];
    const log = { ...silentLog, info: (fields: object, message: string) => lines.push([message, fields]) };
    await run(
      logCalls(
        createCallLine(log, () => undefined),
        errorFromConnect,
      ),
      answer,
      { context: { protocol: "grpc" } },
    );
    expect(lines).toEqual([
      [
        "call",
        { requestId: "id-1", protocol: "grpc", method: "Evaluate", ms: expect.any(Number), code: "ok" },
      ],
    ]);
  });

  test("a call that tools repeat every second is logged at debug, but an internal error of it is not", async () => {
    const lines: unknown[] = [];
    const write = (level: string) => (fields: { readonly code?: unknown }) =>
      lines.push([level, fields.code]);
    const log = { ...silentLog, debug: write("debug"), info: write("info"), error: write("error") };
    await run(
      logCalls(
        createCallLine(log, () => undefined, "debug"),
        errorFromConnect,
      ),
      answer,
    );
    await expect(
      run(
        logCalls(
          createCallLine(log, () => undefined, "debug"),
          errorFromConnect,
        ),
        refuse(new TypeError("mistake")),
      ),
    ).rejects.toThrow();
    expect(lines).toEqual([
      ["debug", "ok"],
      ["error", "internal"],
    ]);
  });

  test.each([
    ["a refusal", refusal, "info", "invalid_fen"],
    ["an internal error", new TypeError("mistake"), "error", "internal"],
    ["a deadline", new ConnectError("late", Code.DeadlineExceeded), "info", "deadline_exceeded"],
  ])("a call after %s is logged with it, and passed on", async (_, error, level, code) => {
    const { lines, logged } = recording();
    await expect(run(logged, refuse(error))).rejects.toBe(error);
    expect(lines).toEqual([[level, code]]);
  });

  test("a caller that left is logged as no error, whatever the abort reason", async () => {
    const { lines, logged } = recording();
    for (const reason of [new Error("the caller left"), undefined]) {
      const signal = AbortSignal.abort(reason);
      await expect(run(logged, refuse(signal.reason), { signal })).rejects.toBe(signal.reason);
    }
    expect(lines).toEqual([
      ["info", "canceled"],
      ["info", "canceled"],
    ]);
  });

  test.each([
    ["a client that resets its stream is no error, whatever its code", Code.Internal, "canceled"],
    ["a deadline that has passed is deadline_exceeded", Code.DeadlineExceeded, "deadline_exceeded"],
  ])("in the log, %s", async (_, reason, code) => {
    const { lines, logged } = recording();
    const signal = AbortSignal.abort(new ConnectError("http/2 stream closed", reason));
    await expect(run(logged, refuse(signal.reason), { signal })).rejects.toBe(signal.reason);
    expect(lines).toEqual([["info", code]]);
  });

  test("an internal error stays an error in the log when the caller has left, too", async () => {
    const { lines, logged } = recording();
    const signal = AbortSignal.abort(new Error("the caller left"));
    await expect(run(logged, refuse(new TypeError("mistake")), { signal })).rejects.toThrow("mistake");
    expect(lines).toEqual([["error", "internal"]]);
  });

  test("a stream is logged once, when it has ended", async () => {
    const { lines, logged } = recording();
    const { message } = await run(logged, streaming(1, 2));
    expect(lines).toEqual([]);
    expect(await Array.fromAsync(message)).toEqual([1, 2]);
    expect(lines).toEqual([["info", "ok"]]);
  });

  test("a stream that failed is logged with its failure", async () => {
    const { lines, logged } = recording();
    const { message } = await run(logged, streaming(1, refusal));
    await expect(Array.fromAsync(message)).rejects.toBe(refusal);
    expect(lines).toEqual([["info", "invalid_fen"]]);
  });

  test("a stream whose reader left is logged as such", async () => {
    const { lines, logged } = recording();
    const { message } = await run(logged, streaming(1, 2));
    const reader = message[Symbol.asyncIterator]();
    expect((await reader.next()).value).toBe(1);
    await reader.return?.();
    expect(lines).toEqual([["info", "canceled"]]);
  });

  test("a stream that could not be delivered is logged as no internal error", async () => {
    const { lines, logged } = recording();
    const { message } = await run(logged, streaming(1, 2));
    const reading = (message as AsyncIterable<unknown>)[Symbol.asyncIterator]();
    await reading.next();
    const gone = new Error("The stream has been destroyed");
    await expect(reading.throw?.(gone)).rejects.toBe(gone);
    expect(lines).toEqual([["info", "canceled"]]);
  });
});

describe("Connect's doors", () => {
  const ofCatalogue = expect.objectContaining({ code: Code.InvalidArgument, rawMessage: "bad" });

  test("calls over Connect give the answer the headers that interceptors added", async () => {
    const outcome = createOutcome([
      ["x-request-id", "id-1"],
      ["x-other", "2"],
    ]);
    const header = new Headers();
    await run(connectErrors(), answer, { outcome, header });
    expect([...header]).toEqual([
      ["x-other", "2"],
      ["x-request-id", "id-1"],
    ]);
  });

  test("calls over Connect turn errors of the catalogue into Connect errors", async () => {
    await expect(run(connectErrors(), refuse(refusal))).rejects.toEqual(ofCatalogue);
  });

  test("streams over Connect turn errors of the catalogue into Connect errors, also while they are read", async () => {
    const { message } = await run(connectErrors(), streaming(1, refusal));
    const read: unknown[] = [];
    const reading = (async () => {
      for await (const one of message) {
        read.push(one);
      }
    })();
    await expect(reading).rejects.toEqual(ofCatalogue);
    expect(read).toEqual([1]);
  });
});

describe("the rules of the proto", () => {
  const rules = validate(createRules());

  test("the rules of the proto let a valid request pass unchanged", async () => {
    let seen: unknown;
    await run(rules, (request) => {
      seen = request.message;
      return answer();
    });
    expect(seen).toMatchObject({ fen: "x" });
  });

  test("the rules of the proto refuse an invalid request before the method is called", async () => {
    await expect(run(rules, () => expect.fail("asked"), { fen: "" })).rejects.toMatchObject({
      code: "invalid_fen",
      faults: [{ pointer: "/fen" }],
    });
  });

  test("the rules of the proto refuse an invalid message of a stream when it is read", async () => {
    const reading = run(rules, async ({ message }) => Array.fromAsync(message), { fen: "", stream: true });
    await expect(reading).rejects.toMatchObject({ code: "invalid_fen" });
  });
});
