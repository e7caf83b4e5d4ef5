import { describe, expect, test } from "vitest";
import { readH2load } from "../../bench/service/h2load.ts";

/** As h2load 1.52 prints it. */
const printed = ({ done = 2000, succeeded = 2000, failed = 0, dataBytes = 998_000 } = {}) => `
finished in 2.00s, 566.00 req/s, 309.26KB/s
requests: ${done} total, 1140 started, ${done} done, ${succeeded} succeeded, ${failed} failed, 0 errored, 0 timeout
status codes: ${succeeded} 2xx, 0 3xx, 0 4xx, 0 5xx
traffic: 618.52KB (633362) total, 35.41KB (36260) headers (space savings 74.37%), 551.62KB (${dataBytes}) data
`;

describe("what h2load has printed", () => {
  test("tells how many calls were answered", () => {
    expect(readH2load(printed(), 499)).toBe(2000);
  });

  test.each([
    ["a call that failed", { succeeded: 1999, failed: 1 }],
    ["no call at all", { done: 0, succeeded: 0 }],
    ["a refusal, whose status is 200 and which has no message", { dataBytes: 998_000 - 499 }],
  ])("is a failure with %s", (_, changed) => {
    expect(() => readH2load(printed(changed), 499)).toThrow();
  });
});
