import { expect, test } from "vitest";
import { rateLimitsFrom } from "../../../web/src/client/rate-limits.ts";

test("the page reads every rate window together with its policy", () => {
  const headers = new Headers({
    "RateLimit-Policy": '"minute";q=60;w=60, "a day";q=1000;w=86400',
    RateLimit: '"minute";r=59;t=42, "a day";r=0;t=3600, "new";r=1;t=2',
  });
  expect(rateLimitsFrom(headers)).toEqual([
    { name: "minute", remaining: 59, quota: 60, windowS: 60 },
    { name: "a day", remaining: 0, quota: 1000, windowS: 86400 },
    { name: "new", remaining: 1, quota: undefined, windowS: undefined },
  ]);
});

test.each(["", "nonsense", '"unfinished'])(
  "the page reads no rate window from the missing or invalid header %j",
  (field) => {
    expect(rateLimitsFrom(new Headers(field ? { RateLimit: field } : {}))).toEqual([]);
  },
);
