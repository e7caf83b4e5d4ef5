import { describe, expect, test } from "vitest";
import { openPlan } from "../../src/access/plans.ts";
import {
  type AnalysisRequest,
  cacheKeyOf,
  flightKeyOf,
  isWorthStoring,
  requestBounds,
  type ValidatedRequest,
} from "../../src/analysis/analysis.ts";
import { validateRequest, validateSearch } from "../../src/analysis/validate-request.ts";
import { inOneGo } from "../../src/chess/in-one-go.ts";
import { playGame } from "../../src/chess/play-game.ts";
import type { Score } from "../../src/chess/score.ts";
import type { EngineBuild } from "../../src/engine/engine.ts";
import { positionOf, startFen } from "../chess/validated.ts";
import { buildOf, launchOf } from "../engine/build-of.ts";
import { analysisFromEvent } from "./analysis-from-event.ts";
import { doneOf, knownEngines, lineOf, requestOf, snapshotOf, validated } from "./made-up.ts";

const keyOf = async (overrides: Partial<AnalysisRequest>) =>
  cacheKeyOf(await validateRequest(requestOf(overrides), knownEngines([buildOf()]), openPlan.limits));
const keyOfRequest = (overrides: Partial<ValidatedRequest>) => cacheKeyOf(validated(overrides));

const allMoves = [..."abcdefgh"]
  .flatMap((file) => [`${file}3`, `${file}4`])
  .concat("Na3", "Nc3", "Nf3", "Nh3");

describe("two requests have the same key", () => {
  test.each<[string, Partial<AnalysisRequest>, Partial<AnalysisRequest>]>([
    [
      "one states the default values",
      {},
      { depth: requestBounds.depth.default, multipv: 1, engine: "stockfish-19", path: "wasm" },
    ],
    ["they differ only in white space of the FEN", {}, { fen: `  ${startFen.replaceAll(" ", "   ")} ` }],
    ["one FEN has no clocks", {}, { fen: startFen.split(" ").slice(0, 4).join(" ") }],
    [
      "they differ in an en passant square without a possible capture",
      { fen: "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1" },
      { fen: "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1" },
    ],
    ["the notation of the moves differs", { moves: ["e4", "e5"] }, { moves: ["e2e4", "e7e5"] }],
    [
      "their moves are equal since the last capture or pawn move",
      { moves: ["e4", "e5", "Nf3"] },
      { fen: "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2", moves: ["Nf3"] },
    ],
    [
      "one has a pawn move and the other the position after that move",
      { moves: ["e4"] },
      { fen: "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1" },
    ],
    ["one sets an option to its default", {}, { options: { skill_level: 20, uci_limit_strength: false } }],
    [
      "one sets Chess960 by an option and the other by the FEN",
      { options: { uci_chess960: true } },
      { fen: startFen.replace("KQkq", "HAha") },
    ],
    [
      "they differ in a time limit, and the node limit ends the search",
      { nodes: 500 },
      { nodes: 500, movetimeMs: 5000 },
    ],
    [
      "the notation of search_moves differs",
      { searchMoves: ["e4", "Nf3"] },
      { searchMoves: ["g1f3", "e2e4", "e4"] },
    ],
    ["search_moves contains every legal move", {}, { searchMoves: allMoves }],
    [
      "they differ in a time limit, and the depth ends the search",
      {},
      { movetimeMs: 5000, depth: requestBounds.depth.default },
    ],
  ])("two requests have the same cache key if %s", async (_, one, other) => {
    expect(await keyOf(one)).toBeTypeOf("string");
    expect(await keyOf(one)).toBe(await keyOf(other));
  });
});

test("a position in a review and a request with the same moves have the same cache key", async () => {
  const moves = ["e4", "e5", "Nf3", "Nc6", "Bb5", "a6"];
  const positions = [positionOf(startFen)];
  inOneGo(playGame(positionOf(startFen), moves, (position) => positions.push(position)));
  const { catalog } = knownEngines([buildOf()]);
  const ofReview = positions.map((position) =>
    cacheKeyOf(validateSearch(requestOf({}), position, catalog, openPlan.limits)),
  );
  const ofMoves = await Promise.all(positions.map((_, ply) => keyOf({ moves: moves.slice(0, ply) })));
  expect(ofMoves).toEqual(ofReview);
});

describe("two requests have different keys", () => {
  const other = (overrides: Partial<EngineBuild>) => keyOfRequest({ build: buildOf(overrides) });

  test("two requests have different cache keys if the result can differ", async () => {
    const keys = [
      ...(await Promise.all([
        keyOf({}),
        keyOf({ depth: 13 }),
        keyOf({ multipv: 2 }),
        keyOf({ nodes: 14 }),
        keyOf({ nodes: 13 }),
        keyOf({ nodes: 13, depth: 14 }),
        keyOf({ nodes: 14, depth: 13 }),
        keyOf({ searchMoves: ["e4"] }),
        keyOf({ searchMoves: ["e4", "d4"] }),
        keyOf({ searchMoves: allMoves.slice(1) }),
        keyOf({ moves: ["e4"] }),
        keyOf({ options: { uci_chess960: true } }),
        keyOf({ fen: startFen.replace(/1$/, "2") }),
        keyOf({ fen: startFen.replace("0 1", "1 1") }),
        // This request has the same position and another history.
        keyOf({ moves: ["Nf3", "Nf6", "Ng1", "Ng8"] }),
        keyOf({ fen: startFen.replace("0 1", "4 3") }),
      ])),
      other({ id: "stockfish-19-lite" }),
      other({ path: "native" }),
      other({ sha256: "1".repeat(64) }),
      other({ settings: { hashMb: 32, threads: 1 } }),
      other({ settings: { hashMb: 16, threads: 2 } }),
      other({ selfTestNodes: 6130 }),
      other({ selfTestNodes: 6131 }),
      other({ launch: launchOf({ digest: "one" }) }),
      other({ launch: launchOf({ digest: "another" }) }),
      keyOfRequest({ effectiveOptions: { syzygy_50_move_rule: false } }),
    ];
    expect(new Set(keys).size).toBe(keys.length);
  });

  test("a result of an engine that is not reproducible has no cache key, so it is never cached, stored or shared", () => {
    expect(keyOfRequest({ build: buildOf({ reproducible: false }) })).toBeUndefined();
  });

  test("two concurrent requests do not share a search if their time limits differ", () => {
    expect(flightKeyOf("key", 50)).not.toBe(flightKeyOf("key", 60));
  });
});

test("the order of the options does not change the cache key", () => {
  const [one, two] = [
    { a: 1, b: true },
    { b: true, a: 1 },
  ];
  expect(keyOfRequest({ effectiveOptions: one })).toBe(keyOfRequest({ effectiveOptions: two }));
});

test("a request to a weakened engine has no cache key, because the engine plays randomly", async () => {
  expect(await keyOf({ options: { skill_level: 3 } })).toBeUndefined();
  expect(await keyOf({ options: { uci_limit_strength: true, uci_elo: 1500 } })).toBeUndefined();
});

test("the cache key contains the hash of the engine's file and not the path", () => {
  const moved = buildOf({ file: "/elsewhere/stockfish" });
  expect(keyOfRequest({ build: moved })).toBe(keyOfRequest({}));
});

test.each([
  [{ depth: 6 }, true],
  [{ depth: 5 }, false],
  [{ depth: undefined, nodes: 1000 }, true],
  [{ depth: undefined, nodes: 999 }, false],
  [{ depth: 30, nodes: 999 }, false],
  [{ depth: 5, nodes: 100_000 }, false],
])("the result of a search with the limits %j is worth storing on disk: %s", (limits, worth) => {
  expect(isWorthStoring(validated(limits))).toBe(worth);
});

const blackToMove = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1";
const codesOf = ({ warnings }: { readonly warnings: readonly { readonly code: string }[] }) =>
  warnings.map(({ code }) => code);

describe("an analysis", () => {
  test("an analysis contains SAN, the expected reply and the waiting time", () => {
    const analysis = analysisFromEvent(doneOf(), validated(), 17);
    expect(analysis).toMatchObject({
      best: { uci: "e2e4", san: "e4" },
      ponder: { uci: "e7e5", san: "e5" },
      lines: [{ moves: ["e2e4", "e7e5"], san: ["e4", "e5"], depth: 14, seldepth: 20 }],
      depth: 14,
      seldepth: 20,
      counters: { nodes: 5000, nps: 100_000, timeMs: 50, hashfull: 3, tbhits: 0 },
      queueMs: 17,
      warnings: [],
    });
  });

  test("an analysis has no reply if the engine expects none", () => {
    const { ponder } = analysisFromEvent(doneOf({ ponder: undefined }), validated(), 0);
    expect(ponder).toBeUndefined();
  });

  test.each<[string, Score, Score]>([
    [
      "centipawns, and the chances with them",
      { value: { kind: "cp", cp: 30 }, bound: "exact", wdl: { win: 100, draw: 850, loss: 50 } },
      { value: { kind: "cp", cp: -30 }, bound: "exact", wdl: { win: 50, draw: 850, loss: 100 } },
    ],
    [
      "a mate, and its bound with it",
      { value: { kind: "mate", mate: 3 }, bound: "lower", wdl: undefined },
      { value: { kind: "mate", mate: -3 }, bound: "upper", wdl: undefined },
    ],
  ])(
    "an analysis of a position with Black to move has scores from White's point of view: %s",
    (_, said, expected) => {
      const snapshot = snapshotOf({ lines: [lineOf(["e7e5"], { score: said })] });
      const done = doneOf({ snapshot, bestMove: "e7e5", ponder: undefined });
      const analysis = analysisFromEvent(done, validated({ fen: blackToMove }), 0);
      expect(analysis.score).toEqual(expected);
      expect(analysis.lines[0]?.score).toEqual(expected);
    },
  );

  test("a line of an analysis ends before the first illegal move", () => {
    const snapshot = snapshotOf({ lines: [lineOf(["e2e4", "e7e5", "a1a8", "h7h6"])] });
    const { lines } = analysisFromEvent(doneOf({ snapshot }), validated(), 0);
    expect(lines).toMatchObject([{ moves: ["e2e4", "e7e5"], san: ["e4", "e5"] }]);
  });

  test("an analysis with an illegal best move is an error", () => {
    expect(() => analysisFromEvent(doneOf({ bestMove: "a1a8" }), validated(), 0)).toThrow(
      /stockfish-19 answered a1a8, which is not legal/,
    );
  });
});

describe("a warning", () => {
  test("an analysis has a warning if the time limit ended the first iteration early", () => {
    const snapshot = snapshotOf({ complete: false, depth: 1 });
    const analysis = analysisFromEvent(
      doneOf({ snapshot, endedBy: "time" }),
      validated({ movetimeMs: 50 }),
      0,
    );
    expect(codesOf(analysis)).toEqual(["incomplete_iteration"]);
  });

  test("an analysis has a warning if the node limit ended the first iteration early", () => {
    const snapshot = snapshotOf({ complete: false, depth: 1 });
    const done = doneOf({ snapshot, endedBy: "nodes", bestMove: "d2d4", ponder: undefined });
    const { warnings, deterministic, stopReason } = analysisFromEvent(done, validated({ nodes: 1 }), 0);
    expect(warnings).toMatchObject([
      {
        code: "incomplete_iteration",
        field: "nodes",
        message: expect.stringMatching(/^The nodes ran out before /),
      },
      { code: "best_move_beyond_lines", message: expect.stringMatching(/^The nodes ran out while /) },
    ]);
    expect({ deterministic, stopReason }).toEqual({ deterministic: true, stopReason: "nodes" });
  });

  test("the warnings of an engine that ended its search by itself do not claim that a limit ended the search", () => {
    const snapshot = snapshotOf({ complete: false, depth: 1 });
    const done = doneOf({ snapshot, endedBy: "depth", bestMove: "d2d4", ponder: undefined });
    const { warnings } = analysisFromEvent(done, validated(), 0);
    expect(warnings).toMatchObject([
      {
        code: "incomplete_iteration",
        field: undefined,
        message: expect.stringMatching(/^The engine ended its search before /),
      },
      {
        code: "best_move_beyond_lines",
        message: expect.stringMatching(/^The engine ended its search while /),
      },
    ]);
  });

  test("an analysis has a warning if the best move differs from the first line", () => {
    const done = doneOf({ bestMove: "d2d4", ponder: "d7d5", endedBy: "time" });
    const analysis = analysisFromEvent(done, validated({ movetimeMs: 50 }), 0);
    expect(codesOf(analysis)).toEqual(["best_move_beyond_lines"]);
    expect(analysis).toMatchObject({
      best: { uci: "d2d4" },
      ponder: { uci: "d7d5" },
      lines: [{ moves: ["e2e4", "e7e5"] }],
      score: { value: { cp: 30 } },
    });
  });

  test("an analysis by a weakened engine has no warning if the best move differs from the first line", () => {
    const done = doneOf({ bestMove: "d2d4", ponder: "d7d5" });
    expect(codesOf(analysisFromEvent(done, validated({ weakened: true }), 0))).toEqual([]);
  });

  test("an analysis has no warning if the best move and the first line differ only in the notation of castling", () => {
    const fen = "4k3/8/8/8/8/8/8/4K2R w K - 0 1";
    const snapshot = snapshotOf({ lines: [lineOf(["e1h1"])] });
    const done = doneOf({ snapshot, bestMove: "e1g1", ponder: undefined });
    const analysis = analysisFromEvent(done, validated({ fen }), 0);
    expect(codesOf(analysis)).toEqual([]);
    expect(analysis.best).toMatchObject({ uci: "e1g1", san: "O-O" });
  });

  test("the warnings about the request precede the warnings about the result", () => {
    const warnings = [{ code: "clocks_defaulted", message: "…", field: "fen" }];
    const snapshot = snapshotOf({ complete: false });
    const analysis = analysisFromEvent(doneOf({ snapshot }), validated({ warnings }), 0);
    expect(codesOf(analysis)).toEqual(["clocks_defaulted", "incomplete_iteration"]);
  });
});
