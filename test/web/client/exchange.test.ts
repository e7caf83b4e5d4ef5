import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient, createRouterTransport } from "@connectrpc/connect";
import { beforeEach, expect, test } from "vitest";
import { AnalysisService } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { ProblemSchema } from "../../../gen/chess/analysis/v1/problem_pb.ts";
import { aside, lastExchange, recordExchange } from "../../../web/src/client/exchange.ts";

/** Answers with as many states as the depth asks for; beyond 30 it refuses. */
const transport = createRouterTransport(
  ({ service }) =>
    service(AnalysisService, {
      evaluate({ fen, depth = 1 }, context) {
        if (depth > 30) {
          const problem = { desc: ProblemSchema, value: create(ProblemSchema, { code: "out_of_range" }) };
          throw new ConnectError("too deep", Code.InvalidArgument, { "X-Request-Id": "of the error" }, [
            problem,
          ]);
        }
        context.responseHeader.set("X-Request-Id", "of the answer");
        return { fen };
      },
      async *streamEvaluate({ depth = 1 }) {
        for (let reached = 1; reached <= depth; reached++) {
          await Promise.resolve();
          yield { event: { case: "evaluation", value: { search: { depth: reached } } } } as const;
        }
        if (depth > 30) {
          throw new ConnectError("broken", Code.Internal);
        }
      },
      getPrice: () => ({}),
    }),
  { transport: { interceptors: [recordExchange] } },
);
const analyses = createClient(AnalysisService, transport);

beforeEach(() => {
  lastExchange.value = undefined;
});

test("the page records a call, its answer and its headers", async () => {
  await analyses.evaluate({ fen: "startpos" }, { headers: { Authorization: "Bearer kbz_x" } });
  const { value } = lastExchange;
  expect(value).toMatchObject({
    method: AnalysisService.method.evaluate,
    request: { fen: "startpos" },
    withKey: true,
    state: "done",
    answer: { fen: "startpos" },
    answers: 1,
    error: undefined,
  });
  expect(value?.headers?.get("X-Request-Id")).toBe("of the answer");
  expect(value?.firstMs).toBeLessThanOrEqual(value?.totalMs ?? 0);
});

test("the page records the error of a call", async () => {
  const error = await analyses.evaluate({ depth: 31 }).catch((thrown: unknown) => thrown);
  expect(lastExchange.value).toMatchObject({ state: "failed", error, answers: 0, withKey: false });
  expect(lastExchange.value?.headers?.get("X-Request-Id")).toBe("of the error");
});

test("the page counts the messages of a stream and keeps the latest", async () => {
  const seen: unknown[] = [];
  for await (const _ of analyses.streamEvaluate({ depth: 3 })) {
    const { state, answers, totalMs } = lastExchange.value ?? {};
    seen.push([state, answers, totalMs]);
  }
  expect(seen).toEqual([1, 2, 3].map((count) => ["open", count, undefined]));
  expect(lastExchange.value).toMatchObject({
    state: "done",
    answers: 3,
    answer: { event: { value: { search: { depth: 3 } } } },
  });
});

test("the page records a stream that breaks off, with its messages", async () => {
  const read = async () => {
    for await (const _ of analyses.streamEvaluate({ depth: 31 })) {
      // Only the end is of interest.
    }
  };
  await expect(read()).rejects.toThrow("broken");
  expect(lastExchange.value).toMatchObject({ state: "failed", answers: 31 });
});

test("the page records an aborted call as no error", async () => {
  const controller = new AbortController();
  const read = async () => {
    for await (const _ of analyses.streamEvaluate({ depth: 9 }, { signal: controller.signal })) {
      controller.abort();
    }
  };
  await expect(read()).rejects.toThrow("canceled");
  expect(lastExchange.value).toMatchObject({ state: "aborted", error: undefined, answers: 1 });
});

test("an older call does not replace a newer one", async () => {
  const older = analyses.streamEvaluate({ depth: 2 })[Symbol.asyncIterator]();
  await older.next();
  await analyses.evaluate({ fen: "newer" });
  await older.next();
  await older.next();
  expect(lastExchange.value).toMatchObject({ request: { fen: "newer" }, state: "done" });
});

test("the page does not record its own requests", async () => {
  await analyses.getPrice({}, aside);
  expect(lastExchange.value).toBeUndefined();
});
