import { expect, test } from "vitest";
import type { RatePolicy } from "../../src/access/plans.ts";
import { type RateWindow, setRateLimitHeaders } from "../../src/access/rate-limit-fields.ts";
import { createOutcome } from "../../src/request/context.ts";

const windowOf = (
  name: string,
  quota: number,
  remaining: number,
  resetMs: number,
  unit: RatePolicy["unit"] = "request",
): RateWindow => ({ policy: { name, quota, windowS: 60, unit }, remaining, resetMs });

function fieldsOf(windows: readonly RateWindow[], reached?: RateWindow) {
  const outcome = createOutcome();
  setRateLimitHeaders(outcome, windows, reached);
  return [outcome.answerHeaders.get("ratelimit"), outcome.answerHeaders.get("ratelimit-policy")];
}

const minute = windowOf("minute", 60, 59, 60_000);
const hour = windowOf("hour", 300_000, 299_999, 3_600_000, "engine_ms");
const day = windowOf("day", 3_600_000, 3_600_000, 86_400_000, "engine_ms");

test.each<[string, readonly RateWindow[], string | undefined]>([
  [
    "the share that is left",
    [day, hour, minute],
    '"minute";r=59;t=60, "hour";r=299;t=3600, "day";r=3600;t=86400',
  ],
  [
    "the share, and not the number that is left",
    [windowOf("many", 1000, 100, 1000), windowOf("few", 10, 9, 1000)],
    '"many";r=100;t=1, "few";r=9;t=1',
  ],
  [
    "the wait if nothing is left of two windows",
    [windowOf("a", 60, 0, 2000), windowOf("b", 60, 0, 5000), windowOf("c", 60, 0, 3000)],
    '"b";r=0;t=5, "c";r=0;t=3, "a";r=0;t=2',
  ],
  [
    "the order of the plan if the same share is left",
    [
      windowOf("a", 60, 30, 2000),
      windowOf("b", 2, 1, 9000),
      windowOf("c", 60, 60, 1),
      windowOf("d", 9, 9, 2),
    ],
    '"a";r=30;t=2, "b";r=1;t=9, "c";r=60;t=1, "d";r=9;t=1',
  ],
  ["nothing if there are no windows", [], undefined],
])("the RateLimit headers have the tightest window first, by %s", (_, windows, expected) => {
  const [states, policies] = fieldsOf(windows);
  expect(states).toBe(expected);
  const namesOf = (field = "") => field.match(/"[^"]+"/g);
  expect(namesOf(policies)).toEqual(namesOf(states));
});

test("the window that refuses a request is first, with the wait of the refusal", () => {
  const full = windowOf("minute", 60, 3, 41_000);
  const used = windowOf("hour", 300_000, 0, 900, "engine_ms");
  expect(fieldsOf([windowOf("minute", 60, 3, 40_001), used], full)).toEqual([
    '"minute";r=3;t=41, "hour";r=0;t=1',
    '"minute";q=60;w=60, "hour";q=300;w=60',
  ]);
  const refusals = windowOf("refusals", 120, 0, 7000, "refusal");
  expect(fieldsOf([minute], refusals)[0]).toBe('"refusals";r=0;t=7, "minute";r=59;t=60');
  expect(fieldsOf([], refusals)[0]).toBe('"refusals";r=0;t=7');
});
