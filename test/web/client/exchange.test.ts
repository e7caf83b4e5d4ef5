import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient, createRouterTransport } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { AnalysisService } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { ProblemSchema } from "../../../gen/chess/analysis/v1/problem_pb.ts";
import { aside, createExchanges } from "../../../web/src/client/exchange.ts";

const { lastExchange, record } = createExchanges();

/** A fake service. A stream sends one message for each depth. Calls with a depth above 30 fail. */
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
  { transport: { interceptors: [record] } },
);
const analyses = createClient(AnalysisService, transport);

test("the page records a call with its response and headers", async () => {
  await analyses.evaluate({ fen: "startpos" }, { headers: { Authorization: "Bearer kbz_x" } });
  const { value } = lastExchange;
  expect(value).toMatchObject({
    method: AnalysisService.method.evaluate,
    request: { fen: "startpos" },
    withKey: true,
    state: "done",
    answer: { fen: "startpos" },
    error: undefined,
  });
  expect(value?.headers?.get("X-Request-Id")).toBe("of the answer");
  expect(value?.totalMs).toBeGreaterThanOrEqual(0);
});

test("the page records the error of a call", async () => {
  const error = await analyses.evaluate({ depth: 31 }).catch((thrown: unknown) => thrown);
  expect(lastExchange.value).toMatchObject({ state: "failed", error, withKey: false });
  expect(lastExchange.value?.headers?.get("X-Request-Id")).toBe("of the error");
});

test("the page records a stream as open until the stream ends, with the latest message", async () => {
  for await (const { event } of analyses.streamEvaluate({ depth: 3 })) {
    expect(lastExchange.value).toMatchObject({ state: "open", answer: { event }, totalMs: undefined });
  }
  expect(lastExchange.value).toMatchObject({
    state: "done",
    answer: { event: { value: { search: { depth: 3 } } } },
  });
});

test("the page records a broken stream with its latest message", async () => {
  const read = async () => {
    for await (const _ of analyses.streamEvaluate({ depth: 31 })) {
      // Only the end of the stream is tested.
    }
  };
  await expect(read()).rejects.toThrow("broken");
  expect(lastExchange.value).toMatchObject({
    state: "failed",
    answer: { event: { value: { search: { depth: 31 } } } },
  });
});

test("the page does not record an aborted call as an error", async () => {
  const controller = new AbortController();
  const read = async () => {
    for await (const _ of analyses.streamEvaluate({ depth: 9 }, { signal: controller.signal })) {
      controller.abort();
    }
  };
  await expect(read()).rejects.toThrow("canceled");
  expect(lastExchange.value).toMatchObject({ state: "aborted", error: undefined });
});

test("an older call does not replace a newer call in the record", async () => {
  const older = analyses.streamEvaluate({ depth: 2 })[Symbol.asyncIterator]();
  await older.next();
  await analyses.evaluate({ fen: "newer" });
  await older.next();
  await older.next();
  expect(lastExchange.value).toMatchObject({ request: { fen: "newer" }, state: "done" });
});

test("the page does not record its background requests", async () => {
  await analyses.evaluate({ fen: "shown" });
  await analyses.getPrice({}, aside);
  expect(lastExchange.value).toMatchObject({ request: { fen: "shown" } });
});
