import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { localAccount } from "../../src/access/account.ts";
import { createLimits } from "../../src/access/limits.ts";
import { keylessPlan } from "../../src/access/plans.ts";
import { localCall } from "../../src/calls/call.ts";
import { KibitzError } from "../../src/errors/errors.ts";
import { createCharge } from "../../src/services/charge.ts";
import { createProbe } from "../../src/services/probe-tablebase.ts";
import { createMemoryLimitStore } from "../../src/storage/memory/limit-store.ts";
import type { Tablebase, UnknownPosition } from "../../src/tablebase/tablebase.ts";
import { createTimeSlicer } from "../../src/thread/time-slices.ts";
import { positionOf } from "../chess/validated.ts";

const { probeTablebase } = AnalysisService.method;
const fen = "8/8/8/8/8/2k5/8/K6Q w - - 0 1";

/** Probes tables that do not know the position. Counts the requests that are charged. */
async function probed(miss: Omit<UnknownPosition, "kind">, tables = 145) {
  const limits = createLimits(createMemoryLimitStore());
  const charge = createCharge(limits, () => expect.fail("no search is charged"));
  const probe = createProbe({
    tablebase: {
      probeMoves: async () => ({ kind: "miss", ...miss }),
      summary: () => (tables === 0 ? undefined : { men: 5, tables, digest: "" }),
    } as Partial<Tablebase> as Tablebase,
    tablesMaxWaitMs: 200,
    validate: { position: async (text) => positionOf(text) },
    charge,
    beginWork: createTimeSlicer(),
  });
  const call = callWithin(100);
  const error = await (probe(create(probeTablebase.input, { fen }), call) as Promise<unknown>).catch(
    (thrown: unknown) => thrown,
  );
  const [window] = await limits.windowsOf(call.account);
  return { error, charged: 100 - (window?.remaining ?? 0) };
}

/** Returns a call of a caller with `quota` requests in a minute. */
function callWithin(quota: number) {
  const rates = [{ name: "minute", quota, windowS: 60, unit: "request" }] as const;
  const account = { ...localAccount, plan: { ...keylessPlan, limits: { ...keylessPlan.limits, rates } } };
  return { ...localCall(probeTablebase, new AbortController().signal), account };
}

test("look-ups beyond the rate limit are refused before the tables are asked, also if all arrive at once", async () => {
  let asked = 0;
  const probe = createProbe({
    tablebase: {
      async probeMoves() {
        asked++;
        return { kind: "miss", reason: "no_table", message: "" };
      },
      summary: () => undefined,
    } as Partial<Tablebase> as Tablebase,
    tablesMaxWaitMs: 200,
    validate: { position: async (text) => positionOf(text) },
    charge: createCharge(createLimits(createMemoryLimitStore()), () => expect.fail("no search is charged")),
    beginWork: createTimeSlicer(),
  });
  const { account } = callWithin(3);
  const errors = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const call = { ...callWithin(3), account };
      const answer = probe(create(probeTablebase.input, { fen }), call) as Promise<unknown>;
      return await answer.catch((error: unknown) => error);
    }),
  );
  const codes = errors.map((error) => (error instanceof KibitzError ? error.code : "answered"));
  expect(codes.filter((code) => code === "not_in_tablebase")).toHaveLength(3);
  expect(codes.filter((code) => code === "rate_limited")).toHaveLength(17);
  expect(asked).toBe(3);
});

test.each([
  [0, 1000],
  [7000, 7000],
  [300_000, 30_000],
])(
  "a look-up that needs a table that is being verified is refused as `starting`, with a time to retry, and not counted: after %i ms",
  async (verifyingMs, retryAfterMs) => {
    const miss = { reason: "unverified_table", message: "is being verified", verifyingMs } as const;
    const { error, charged } = await probed(miss);
    expect(error).toMatchObject({ code: "starting", nextAction: "retry_later", retryAfterMs });
    expect(charged).toBe(0);
  },
);

test.each([
  ["too_many_men", "the largest table has 5 men", "the largest table has 5 men"],
  ["castling_rights", "tables have no positions with castling rights", "castling rights"],
  ["no_table", "there is no table of KQvKR", "KQvKR"],
  ["unusable_table", "/tables/KQvK.rtbw: is damaged", "damaged"],
] as const)(
  "a look-up that no table answers is counted, and its error says why: %s",
  async (reason, message, words) => {
    const { error, charged } = await probed({ reason, message });
    expect(error).toMatchObject({
      code: "not_in_tablebase",
      nextAction: "send_to_eval",
      message: expect.stringContaining(words),
    });
    expect((error as Error).message).not.toContain("/tables/");
    expect(charged).toBe(1);
  },
);

test("a look-up names the setting only if there is no table, and not if all tables are damaged", async () => {
  const detailOf = async (reason: UnknownPosition["reason"]) =>
    ((await probed({ reason, message: "" }, 0)).error as Error).message;
  expect(await detailOf("too_many_men")).toContain("KIBITZ_SYZYGY");
  expect(await detailOf("unusable_table")).toMatch(/damaged or cannot be read/);
});
