import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { AnalysisRequestSchema } from "../../gen/chess/analysis/v1/analysis_pb.ts";
import {
  type EvaluateBatchResponse,
  EvaluateBatchResponseSchema,
} from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { askMany } from "../../src/cli/ask-many.ts";
import { KibitzError } from "../../src/errors/errors.ts";

const options = { signal: new AbortController().signal, onWait: () => expect.fail("waited") };
const requestsOf = (count: number) =>
  Array.from({ length: count }, () => create(AnalysisRequestSchema, { fen: "startpos" }));

/**
 * A fake service that refuses batches of more than `itemsMax` requests. The service sends the responses of a batch in reverse
 * order.
 */
function serviceOf(itemsMax: number) {
  const sizes: number[] = [];
  async function* evaluateBatch({ requests = [] }: { requests?: readonly unknown[] }) {
    sizes.push(requests.length);
    if (requests.length > itemsMax) {
      const violation = { pointer: "/requests", code: "over_plan_limit" as const, message: "Too many." };
      throw new KibitzError("upgrade_needed", "Too many.", {
        violations: [violation],
      });
    }
    for (const index of requests.keys().toArray().toReversed()) {
      yield create(EvaluateBatchResponseSchema, { index, outcome: { case: "result", value: {} } });
    }
  }
  return { sizes, evaluateBatch };
}

const indexesOf = (answers: readonly EvaluateBatchResponse[]) =>
  answers.map(({ index }) => index).toSorted((one, other) => one - other);

test("a batch that exceeds the plan is halved until the plan allows the batch, and every request gets a response", async () => {
  const service = serviceOf(60);
  const answers = await Array.fromAsync(askMany(requestsOf(250), service, options));
  expect(indexesOf(answers)).toEqual(Array.from({ length: 250 }, (_, index) => index));
  expect(service.sizes).toEqual([200, 100, 50, 50, 50, 50, 50]);
});

test("the requests are read one batch at a time", async () => {
  let taken = 0;
  const requests = requestsOf(1000)
    .values()
    .map((request) => {
      taken++;
      return request;
    });
  const service = serviceOf(200);
  const takenAt: number[] = [];
  for await (const { index } of askMany(requests, service, options)) {
    if (index % 200 === 0) {
      takenAt.push(taken);
    }
  }
  expect(takenAt).toEqual([200, 400, 600, 800, 1000]);
});

test("after an empty response to a batch no second batch is sent", async () => {
  const service = { evaluateBatch: async function* (): AsyncGenerator<EvaluateBatchResponse> {} };
  await expect(Array.fromAsync(askMany(requestsOf(2), service, options))).rejects.toThrow(
    /without its answers/,
  );
});

test("an error that concerns all requests is thrown", async () => {
  const refusing = {
    // biome-ignore lint/correctness/useYield: it fails before
    evaluateBatch: async function* (): AsyncGenerator<EvaluateBatchResponse> {
      throw new KibitzError("invalid_api_key", "Wrong key.");
    },
  };
  await expect(Array.fromAsync(askMany(requestsOf(2), refusing, options))).rejects.toThrow("Wrong key.");
});
