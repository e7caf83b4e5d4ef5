import { create, isMessage, type MessageInitShape, toJson } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import * as pb from "../../gen/chess/analysis/v1/analysis_pb.ts";
import { EvaluateResponseSchema } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { openPlan } from "../../src/access/plans.ts";
import type { Analysis } from "../../src/analysis/analysis.ts";
import { messageFromAnalysis, requestFromMessage } from "../../src/calls/convert.ts";
import { messageFromPlan } from "../../src/calls/convert-access.ts";
import { messageFromVersions } from "../../src/calls/convert-engines.ts";
import type { Score } from "../../src/chess/score.ts";
import type { EngineBuild } from "../../src/engine/engine.ts";
import { defaultDepth } from "../../src/engine/profiles.ts";
import { analysisFromEvent } from "../analysis/analysis-from-event.ts";
import { doneOf, knownEngines, validated } from "../analysis/made-up.ts";
import { startFen } from "../chess/validated.ts";
import { buildOf } from "../engine/build-of.ts";

function messageOf(overrides: Partial<Analysis> = {}): MessageInitShape<typeof EvaluateResponseSchema> {
  return messageFromAnalysis({ ...analysisFromEvent(doneOf(), validated(), 3), ...overrides });
}

describe("a request", () => {
  test("a request has default values if the message is empty", () => {
    expect(requestFromMessage(create(pb.AnalysisRequestSchema, { fen: startFen }))).toEqual({
      fen: startFen,
      moves: [],
      depth: undefined,
      nodes: undefined,
      multipv: undefined,
      movetimeMs: undefined,
      searchMoves: [],
      engine: "latest",
      path: "auto",
      options: {},
    });
  });

  test("a request has the values of its message, and 0 differs from an unset value", () => {
    const values = {
      fen: "f",
      moves: ["e4"],
      depth: 0,
      multipv: 0,
      movetimeMs: 0,
      searchMoves: ["e5"],
      engine: "",
      options: { a: 1 },
    };
    const message = create(pb.AnalysisRequestSchema, { ...values, nodes: 0n, path: pb.Path.NATIVE });
    expect(requestFromMessage(message)).toEqual({ ...values, nodes: 0, path: "native" });
  });

  test.each([
    [pb.Path.UNSPECIFIED, "auto"],
    [pb.Path.AUTO, "auto"],
    [pb.Path.WASM, "wasm"],
    [pb.Path.NATIVE, "native"],
  ] as const)("the enum value %i of the field path means %s", (path, word) => {
    expect(requestFromMessage(create(pb.AnalysisRequestSchema, { path })).path).toBe(word);
  });
});

describe("an analysis", () => {
  test("an analysis is converted to a message with all fields", () => {
    const message = create(
      EvaluateResponseSchema,
      messageOf({ warnings: [{ code: "c", message: "m", field: "fen" }] }),
    );
    expect(isMessage(message, EvaluateResponseSchema)).toBe(true);
    expect(toJson(EvaluateResponseSchema, message)).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      fen: startFen,
      turn: "COLOR_WHITE",
      engine: { id: "stockfish-19", name: "Stockfish 19", version: "19", path: "PATH_WASM" },
      score: { cp: 30, bound: "BOUND_EXACT", wdl: { win: 100, draw: 850, loss: 50 }, winPercent: 52.8 },
      bestMove: {
        uci: "e2e4",
        san: "e4",
        from: "e2",
        to: "e4",
        fenAfter: "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1",
      },
      ponder: {
        uci: "e7e5",
        san: "e5",
        from: "e7",
        to: "e5",
        fenAfter: "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2",
      },
      lines: [
        {
          rank: 1,
          depth: 14,
          seldepth: 20,
          score: { cp: 30, bound: "BOUND_EXACT", wdl: { win: 100, draw: 850, loss: 50 }, winPercent: 52.8 },
          moves: ["e2e4", "e7e5"],
          san: ["e4", "e5"],
        },
      ],
      search: {
        depth: 14,
        seldepth: 20,
        nodes: "5000",
        nps: "100000",
        timeMs: 50,
        queueMs: 3,
        hashfull: 3,
        stopReason: "STOP_REASON_DEPTH",
        deterministic: true,
        limits: { depth: 14, multipv: 1, options: {} },
      },
      warnings: [{ code: "c", message: "m", field: "fen" }],
      summary: expect.stringContaining("Best move: e4."),
    });
  });

  test.each([
    [
      { category: "win", winner: "black", dtzPlies: 12, men: 4 },
      { category: "TABLEBASE_CATEGORY_WIN", winner: "COLOR_BLACK", dtzPlies: 12, men: 4 },
      0,
      "Black wins (tablebase). Best move for White: e4.",
    ],
    [
      { category: "blessed_loss", winner: undefined, dtzPlies: 99, men: 5 },
      { category: "TABLEBASE_CATEGORY_BLESSED_LOSS", dtzPlies: 99, men: 5 },
      50,
      "Draw by the fifty-move rule (tablebase). Best move: e4.",
    ],
    [
      { category: "draw", winner: undefined, dtzPlies: undefined, men: 3 },
      { category: "TABLEBASE_CATEGORY_DRAW", men: 3 },
      50,
      "Draw (tablebase). Best move: e4.",
    ],
  ] as const)(
    "the result of endgame tables is in the message and decides its win percentage and summary: %o",
    (tablebase, expected, winPercent, summary) => {
      const message = create(EvaluateResponseSchema, messageOf({ tablebase }));
      expect(toJson(EvaluateResponseSchema, message, { alwaysEmitImplicit: true })).toMatchObject({
        tablebase: expected,
        score: { cp: 30, winPercent },
        lines: [{ score: { cp: 30, winPercent: 52.8 } }],
        summary,
      });
    },
  );

  test("a value that the engine does not report is unset in the message, and not 0", () => {
    const score: Score = { value: { kind: "cp", cp: 0 }, bound: "exact", wdl: undefined };
    const message = messageOf({ score, warnings: [{ code: "c", message: "m", field: undefined }] });
    const expected = { value: { case: "cp", value: 0 }, bound: pb.Bound.EXACT, winPercent: 50 };
    expect(message.score).toEqual(expected);
    expect(message.warnings).toEqual([{ code: "c", message: "m" }]);
    expect(message.search?.limits).not.toHaveProperty("movetimeMs");
    const timed = messageOf({ request: validated({ movetimeMs: 50 }) });
    expect(timed.search?.limits).toMatchObject({ movetimeMs: 50 });
  });
});

describe("an engine version", () => {
  const full = buildOf({ sha256: "a".repeat(64) });
  const native = buildOf({ path: "native", license: undefined, sha256: "b".repeat(64) });
  const lite = buildOf({ id: "stockfish-19-lite", net: "lite" });
  const listed = (builds: readonly EngineBuild[]) =>
    messageFromVersions(knownEngines(builds).catalog, (build) => build === full).engines[0];

  test("an engine version in the list has its builds, options and hashes", () => {
    expect(listed([full, native])).toMatchObject({
      id: "stockfish-19",
      author: "nobody",
      latest: true,
      status: pb.EngineStatus.STABLE,
      variants: [pb.Variant.STANDARD, pb.Variant.CHESS960],
      defaultPath: pb.Path.NATIVE,
      paths: [
        {
          path: pb.Path.WASM,
          net: pb.NetSize.FULL,
          sha256: "a".repeat(64),
          threads: 1,
          hashMb: 16,
          available: true,
        },
        { path: pb.Path.NATIVE, sha256: "b".repeat(64), available: false },
      ],
      optionsDefaults: { skill_level: 20, uci_limit_strength: false, uci_elo: 1320, uci_chess960: false },
    });
  });

  test("an engine version in the list shows what its engine promises, and why a build was left out", () => {
    expect(listed([full])).toMatchObject({
      ...{ reproducible: true, digest: "a".repeat(64) },
      defaultLimit: { limit: { case: "depth", value: defaultDepth } },
    });
    expect(listed([full])?.paths[0]?.unavailableReason).toBeUndefined();
    const lc0 = { path: "native", family: "lc0", reproducible: false } as const;
    expect(listed([buildOf(lc0)])).toMatchObject({
      ...{ family: "lc0", reproducible: false },
      defaultLimit: { limit: { case: "nodes", value: 100n } },
    });
    const unavailableReason = "the command lc0 does not exist.";
    expect(listed([full, buildOf({ ...lc0, unavailableReason })])?.paths).toMatchObject([
      { path: pb.Path.WASM, available: true },
      { path: pb.Path.NATIVE, available: false, unavailableReason },
    ]);
  });

  test("an engine version in the list is deprecated if all of its builds are deprecated", () => {
    const going = buildOf({ deprecatedSince: "2026-11-22" });
    expect(listed([going])?.status).toBe(pb.EngineStatus.DEPRECATED);
    expect(listed([going, native])?.status).toBe(pb.EngineStatus.STABLE);
  });

  test("an engine version in the list may have no licence, no Chess960 and no full network", () => {
    const version = listed([{ ...native, options: [] }]);
    expect(version?.variants).toEqual([pb.Variant.STANDARD]);
    expect(version?.license).toBeUndefined();
    expect(listed([lite])).toMatchObject({ paths: [{ net: pb.NetSize.LITE }] });
  });

  test("exactly one engine version in the list is the latest", () => {
    const { engines, latest } = messageFromVersions(knownEngines([full, lite]).catalog, () => true);
    expect(engines.filter((engine) => engine.latest).map(({ id }) => id)).toEqual([latest]);
  });
});

test("a plan in the list shows exactly its limits", () => {
  expect(messageFromPlan(openPlan)).toEqual({
    id: "keyless",
    requiresKey: false,
    limits: {
      depthMax: 30,
      nodesMax: 1_000_000_000n,
      multipvMax: 10,
      movetimeMsMax: 60_000,
      reviewPliesMax: 600,
      batchMax: 200,
      rates: [],
    },
  });
  const rates = [{ name: "minute", quota: 60, windowS: 60, unit: "request" }] as const;
  expect(
    messageFromPlan({ ...openPlan, limits: { ...openPlan.limits, concurrent: 2, rates } }),
  ).toMatchObject({
    limits: { concurrent: 2, rates: [{ name: "minute", quota: 60n, windowS: 60, unit: "request" }] },
  });
});
