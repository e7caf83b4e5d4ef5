import { create } from "@bufbuild/protobuf";
import { expect, onTestFinished, test, vi } from "vitest";
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

/** A service whose batches have at most so many requests, and are answered last first. */
function serviceOf(itemsMax: number, allowed?: Readonly<Record<string, unknown>>) {
  const sizes: number[] = [];
  async function* evaluateBatch({ requests = [] }: { requests?: readonly unknown[] }) {
    sizes.push(requests.length);
    if (requests.length > itemsMax) {
      const fault = { pointer: "/requests", code: "over_plan_limit" as const, message: "Too many." };
      throw new KibitzError("upgrade_needed", "Too many.", {
        faults: [{ ...fault, ...(allowed && { allowed }) }],
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

test.each([
  ["as its plan says", { maxItems: 60 }, [200, 60, 60, 60, 60, 10]],
  ["by halves if the error has no room for the largest size", undefined, [200, 100, 50, 50, 50, 50, 50]],
])("batches become smaller %s, and every request has its answer", async (_, allowed, sizes) => {
  const service = serviceOf(60, allowed);
  const answers = await Array.fromAsync(askMany(requestsOf(250), service, options));
  expect(indexesOf(answers)).toEqual(Array.from({ length: 250 }, (_, index) => index));
  expect(service.sizes).toEqual(sizes);
});

test("the work for a batch does not grow with the number of requests", async () => {
  const has = vi.spyOn(Set.prototype, "has");
  onTestFinished(() => has.mockRestore());
  await Array.fromAsync(askMany(requestsOf(10_000), serviceOf(200), options));
  expect(has.mock.calls.length).toBeLessThan(30_000);
});

test("a service that sends no answers to a batch gets no second batch", async () => {
  const service = { evaluateBatch: async function* (): AsyncGenerator<EvaluateBatchResponse> {} };
  await expect(Array.fromAsync(askMany(requestsOf(2), service, options))).rejects.toThrow(
    /without its answers/,
  );
});

test("an error that all requests would get is thrown", async () => {
  const refusing = {
    // biome-ignore lint/correctness/useYield: it fails before
    evaluateBatch: async function* (): AsyncGenerator<EvaluateBatchResponse> {
      throw new KibitzError("invalid_api_key", "Wrong key.");
    },
  };
  await expect(Array.fromAsync(askMany(requestsOf(2), refusing, options))).rejects.toThrow("Wrong key.");
});
