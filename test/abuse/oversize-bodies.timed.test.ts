import { test } from "vitest";
import { post } from "./ask.ts";
import { expectProblem } from "./expect-problem.ts";
import { expectUnharmed, mib, sharedMaxBytes, watchHealth } from "./health-watch.ts";
import { useSharedService } from "./started-service.ts";

const service = useSharedService();

test("100 concurrent bodies of 2 MiB are refused, and do not affect other callers", async () => {
  const stop = await watchHealth(service);
  const answers = await Promise.all(
    Array.from({ length: 100 }, () => post(`${service.url}/v1/eval`, " ".repeat(2 * mib))),
  );
  const health = await stop();
  for (const answer of answers) {
    expectProblem(answer, { status: 413, code: "body_too_large" });
  }
  expectUnharmed(health, { peakBytes: sharedMaxBytes });
});
