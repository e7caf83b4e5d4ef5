import { expect, test } from "vitest";
import { createLongCalls } from "../../src/access/long-calls.ts";
import { openPlan } from "../../src/access/plans.ts";

test("callers without limits together have at most 64 concurrent batches and reviews", () => {
  const calls = createLongCalls();
  const begin = (subject: string) =>
    calls.begin({ subject, address: subject, plan: openPlan } as never, {} as never);
  const begun = Array.from({ length: 64 }, (_, index) => begin(`caller ${index % 3}`));
  expect(() => begin("another caller")).toThrow("maximum of 64 batches and reviews");
  begun[0]?.[Symbol.dispose]();
  begin("another caller");
});
