import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { createLocalAccess } from "../../src/access/access.ts";
import { localCall } from "../../src/calls/call.ts";
import { errorFromViolations, KibitzError } from "../../src/errors/errors.ts";
import { silentLog } from "../../src/log/log.ts";
import { createBatchEvaluation } from "../../src/services/batch.ts";
import { createTimeSlicer } from "../../src/thread/time-slices.ts";

const { input } = AnalysisService.method.evaluateBatch;

interface Fakes {
  analyze(): Promise<never>;
  charge?(): void;
  refuseUsedUp?(): Promise<void>;
}

/** Evaluates a batch with a fake analyzer and fake charges. Counts the running searches and the validated requests. */
async function evaluate(count: number, { analyze, charge = () => {}, refuseUsedUp = async () => {} }: Fakes) {
  const held = { places: 0, validated: 0 };
  const evaluateBatch = createBatchEvaluation({
    analyzer: { analyze },
    validate: {
      async item() {
        held.validated++;
        return {};
      },
      batchSize() {},
    },
    charge: {
      async request(_request: unknown, _call: unknown, stack: DisposableStack) {
        charge();
        held.places++;
        stack.defer(() => held.places--);
        return { terms: {}, answered() {} };
      },
      refuseUsedUp,
    },
    access: await createLocalAccess(),
    beginWork: createTimeSlicer(),
    searchesAtOnce: 1,
    log: silentLog,
  } as never);
  const message = create(input, { requests: Array.from({ length: count }, () => ({ fen: "x" })) });
  const answers = Array.fromAsync(evaluateBatch(message, localCall(AnalysisService.method.evaluateBatch)));
  return { held, answers };
}

test("a batch request that waits for a retry does not count towards its caller's concurrent searches", async () => {
  let tries = 0;
  const { held, answers } = await evaluate(1, {
    async analyze() {
      tries++;
      throw tries === 1
        ? new KibitzError("overloaded", "Busy.", { retryAfterMs: 300 })
        : new KibitzError("engine_timeout", "Late.");
    },
  });
  await expect.poll(() => tries).toBe(1);
  await expect.poll(() => held.places).toBe(0);
  expect(tries).toBe(1);
  expect(await answers).toMatchObject([{ index: 0, outcome: { value: { code: "engine_timeout" } } }]);
  expect([tries, held.places]).toEqual([2, 0]);
});

test("when a batch exceeds a limit, its remaining requests are refused without validation", async () => {
  let retryAfterMs = 9000;
  const limited = () => new KibitzError("rate_limited", "Later.", { retryAfterMs });
  let charged = 0;
  const { held, answers } = await evaluate(3, {
    charge() {
      charged++;
      throw limited();
    },
    async refuseUsedUp() {
      retryAfterMs -= 1000;
      throw limited();
    },
    analyze: () => expect.fail("nothing was charged"),
  });
  const problems = (await answers).map(({ outcome }) => outcome?.value);
  expect(problems).toMatchObject([{ retryAfterMs: 9000 }, { retryAfterMs: 8000 }, { retryAfterMs: 7000 }]);
  expect([charged, held.validated]).toEqual([1, 1]);
});

test("an error whose corrected request cannot be made is the error of its own item", async () => {
  const errors = [
    errorFromViolations([{ pointer: "/fen", code: "invalid_fen", message: "no", instead: { fen: "y" } }]),
    new KibitzError("invalid_fen", "no"),
  ];
  // The fake validation cannot validate a corrected request, so the correction of the first error fails.
  const { answers } = await evaluate(2, {
    async analyze() {
      throw errors.shift();
    },
  });
  const codes = (await answers).map(({ outcome }) => outcome?.case === "problem" && outcome.value.code);
  expect(codes).toEqual(["internal", "invalid_fen"]);
});
