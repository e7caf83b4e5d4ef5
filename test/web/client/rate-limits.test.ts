import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { PlanLimitsSchema } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import { excessOfReview } from "../../../src/access/over-plan.ts";
import { keylessPlan } from "../../../src/access/plans.ts";
import { rateLimitsFrom, reviewPliesMaxOf } from "../../../web/src/client/rate-limits.ts";

test.each([3, 12, 13, 60])(
  "the page knows the longest game that the service reviews if the plan has %d requests a minute",
  (quota) => {
    const minute = { name: "minute", quota, windowS: 60, unit: "request" } as const;
    const plan = { ...keylessPlan, limits: { ...keylessPlan.limits, rates: [minute] } };
    const { reviewPliesMax } = plan.limits;
    const rates = [
      { ...minute, quota: BigInt(quota) },
      { name: "calls", quota: 1n, unit: "call" },
    ];
    const plies = reviewPliesMaxOf(create(PlanLimitsSchema, { reviewPliesMax, rates }));
    const game = { depth: 4, nodes: undefined, lines: 1, pointer: "/pgn", shortened: () => undefined };
    expect(excessOfReview({ ...game, plies }, plan)).toEqual([]);
    expect(excessOfReview({ ...game, plies: plies + 1 }, plan)).toHaveLength(1);
  },
);

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
