import { expect, test } from "vitest";
import { createLongCalls } from "../../src/access/long-calls.ts";
import { keylessPlan, openPlan } from "../../src/access/plans.ts";

test("callers without limits together have at most 64 concurrent batches and reviews", () => {
  const calls = createLongCalls();
  const begin = (subject: string) =>
    calls.begin({ subject, address: subject, plan: openPlan } as never, {} as never);
  const begun = Array.from({ length: 64 }, (_, index) => begin(`caller ${index % 3}`));
  expect(() => begin("another caller")).toThrow("maximum of 64 batches and reviews");
  begun[0]?.[Symbol.dispose]();
  begin("another caller");
});

test("a single request may wait only while its caller has a batch or review in flight", () => {
  const calls = createLongCalls();
  expect(calls.turnOfSingle("caller")).toBeUndefined();
  const batch = calls.begin({ subject: "caller", plan: keylessPlan } as never, {} as never);
  expect(calls.turnOfSingle("caller")).toBeDefined();
  expect(calls.turnOfSingle("another caller")).toBeUndefined();
  batch[Symbol.dispose]();
  expect(calls.turnOfSingle("caller")).toBeUndefined();
});

test("at most four single requests of a caller wait at the same time", () => {
  const calls = createLongCalls();
  calls.begin({ subject: "caller", plan: keylessPlan } as never, {} as never);
  const turns = Array.from({ length: 4 }, () => calls.turnOfSingle("caller"));
  expect(turns.every(Boolean)).toBe(true);
  expect(calls.turnOfSingle("caller")).toBeUndefined();
  turns[0]?.[Symbol.dispose]();
  expect(calls.turnOfSingle("caller")).toBeDefined();
});
