import { describe, expect, test } from "vitest";
import { openPlan } from "../../src/access/plans.ts";
import type { AnalysisRequest } from "../../src/analysis/analysis.ts";
import { requestBounds } from "../../src/analysis/analysis.ts";
import { createPositionCache, validateRequest } from "../../src/analysis/validate-request.ts";
import type { PositionInput } from "../../src/chess/position.ts";
import { movesAtOnce, validatePosition } from "../../src/chess/validate-position.ts";
import { KibitzError } from "../../src/errors/errors.ts";
import { createTimeSlicer } from "../../src/thread/time-slices.ts";
import { startFen } from "../chess/validated.ts";
import { buildOf } from "../engine/build-of.ts";
import { knownEngines, requestOf } from "./made-up.ts";

const full = buildOf();
const lite = buildOf({ id: "stockfish-19-lite", net: "lite" });
const native = buildOf({ id: "stockfish-18", version: "18", path: "native" });
const builds = [full, lite, native];
const allowed = openPlan.limits;

const validate = (overrides: Partial<AnalysisRequest>) =>
  validateRequest(requestOf(overrides), knownEngines(builds), allowed);

async function refusalOf(overrides: Partial<AnalysisRequest>): Promise<KibitzError> {
  const error = await validate(overrides).catch((thrown: unknown) => thrown);
  return error instanceof KibitzError ? error : expect.fail("accepted");
}

describe("a request", () => {
  test("an empty request gets the default values", async () => {
    expect(await validate({})).toMatchObject({
      position: { fen: startFen },
      build: full,
      depth: requestBounds.depth.default,
      nodes: undefined,
      multipv: 1,
      movetimeMs: undefined,
      searchMoves: [],
      options: {},
      weakened: false,
      warnings: [],
    });
  });

  test("a request that sets values keeps these values", async () => {
    const overrides = { depth: 3, multipv: 4, movetimeMs: 500, options: { skill_level: 2 } };
    expect(await validate(overrides)).toMatchObject({ ...overrides, weakened: true });
  });

  test("a request with a node limit and no depth has no depth limit", async () => {
    expect(await validate({ nodes: 5000 })).toMatchObject({ depth: undefined, nodes: 5000 });
    expect(await validate({ nodes: 5000, depth: 3 })).toMatchObject({ depth: 3, nodes: 5000 });
    expect(await validate({ nodes: 5000, movetimeMs: 60 })).toMatchObject({
      depth: undefined,
      movetimeMs: 60,
    });
  });

  describe("for an engine without depth", () => {
    const lc0 = buildOf({ ...{ id: "leela", family: "lc0", path: "native" as const, reproducible: false } });
    const ask = (overrides: Partial<AnalysisRequest>) =>
      validateRequest(requestOf({ engine: "leela", ...overrides }), knownEngines([full, lc0]), allowed);

    test("a request without a limit gets the default limit of the engine", async () => {
      expect(await ask({})).toMatchObject({ depth: undefined, nodes: 100, warnings: [] });
      const warnings = [{ code: "default_nodes_applied", field: "nodes" }];
      expect(await ask({ movetimeMs: 500 })).toMatchObject({ nodes: 100, movetimeMs: 500, warnings });
      expect(await ask({ nodes: 7 })).toMatchObject({ depth: undefined, nodes: 7 });
    });

    test("the plan of the caller reduces the default limit, and not the limits of the request", async () => {
      const within = (overrides: Partial<AnalysisRequest>) =>
        validateRequest(requestOf({ engine: "leela", ...overrides }), knownEngines([full, lc0]), {
          depthMax: 20,
          nodesMax: 30,
        });
      const warnings = [
        { message: expect.stringMatching(/default nodes of 30 also applies.*no more nodes/) },
      ];
      expect(await within({})).toMatchObject({ depth: undefined, nodes: 30, warnings: [] });
      expect(await within({ movetimeMs: 500 })).toMatchObject({ nodes: 30, warnings });
      expect(await within({ nodes: 40 })).toMatchObject({ nodes: 40 });
    });

    test.each([{ depth: 14 }, { depth: 1, nodes: 5 }])(
      "the request %j is refused with the limits to use",
      async (limits) => {
        const refused = ask(limits);
        await expect(refused).rejects.toMatchObject({
          code: "out_of_range",
          violations: [{ pointer: "/depth", message: expect.stringMatching(/`nodes`.*`movetime_ms`/) }],
        });
      },
    );

    test("a request for an engine that was left out is refused with the reason and the other engines", async () => {
      const gone = buildOf({
        id: "gone",
        path: "native",
        unavailableReason: "the command lc0 does not exist.",
      });
      const refused = validateRequest(requestOf({ engine: "gone" }), knownEngines([full, gone]), allowed);
      await expect(refused).rejects.toMatchObject({
        code: "unknown_engine",
        violations: [
          {
            pointer: "/engine",
            message: 'The engine "gone" cannot run here: the command lc0 does not exist.',
            allowed: { enum: ["latest", "stockfish-19"] },
          },
        ],
      });
    });
  });

  test("the moves to search are converted to UCI without duplicates", async () => {
    const { searchMoves } = await validate({ moves: ["e4"], searchMoves: ["Nf6", "e5", "e7e5"] });
    expect(searchMoves).toEqual(["e7e5", "g8f6"]);
    // The position is a draw by rule although legal moves exist.
    const drawn = await validate({ fen: "4k3/8/8/8/8/8/8/4K3 w - - 0 1", searchMoves: ["Kd2"] });
    expect([drawn.position.terminal?.reason, drawn.searchMoves]).toEqual(["insufficient_material", ["e1d2"]]);
  });

  test("a Chess960 request needs the option uci_chess960, a suitable position and a suitable engine", async () => {
    const { position, options } = await validate({ options: { uci_chess960: true } });
    expect(position.chess960).toBe(true);
    expect(options).toEqual({ uci_chess960: true });
  });

  test("a Chess960 request is refused if the engine does not support Chess960", async () => {
    const engines = knownEngines(builds);
    const old = knownEngines([buildOf({ options: [] })]);
    // The castling letters H and F name files, which makes the position Chess960.
    const fen = "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9";
    await expect(validateRequest(requestOf({ fen }), old, allowed)).rejects.toMatchObject({
      code: "invalid_option",
      violations: [{ pointer: "/engine", message: expect.stringContaining("does not play Chess960") }],
    });
    expect((await validateRequest(requestOf({ fen }), engines, allowed)).position.chess960).toBe(true);
  });
});

describe("engine and path", () => {
  test.each([
    ["latest", "auto", full],
    ["latest", "wasm", full],
    ["latest", "native", native],
    ["stockfish-19-lite", "auto", lite],
    ["stockfish-19-lite", "wasm", lite],
    ["stockfish-18", "auto", native],
    ["stockfish-18", "native", native],
  ] as const)(
    "a request for the engine %s with the engine path %s gets the right build",
    async (engine, path, build) => {
      expect((await validate({ engine, path })).build).toBe(build);
    },
  );

  test("the engine path auto prefers the native build of an engine", async () => {
    const twin = buildOf({ path: "native" });
    const validated = await validateRequest(requestOf(), knownEngines([full, twin]), allowed);
    expect(validated.build).toBe(twin);
  });

  test.each([
    ["stockfish-19-lite", "native", ["auto", "wasm"]],
    ["stockfish-18", "wasm", ["auto", "native"]],
  ] as const)(
    "a request for the engine %s with the engine path %s is refused, and the error lists the available engine paths",
    async (engine, path, runnable) => {
      expect(await refusalOf({ engine, path })).toMatchObject({
        code: "path_unavailable",
        nextAction: "use_auto_path",
        violations: [{ pointer: "/path", allowed: { enum: runnable } }],
      });
    },
  );

  test.each([
    ["stockfish-19-lite", 'The engine "stockfish-19-lite" cannot run on the path "native" here'],
    ["latest", 'No engine can run on the path "native" here'],
  ])("the error message says that %s has no native build", async (engine, words) => {
    const engines = knownEngines([full, lite]);
    await expect(validateRequest(requestOf({ engine, path: "native" }), engines, allowed)).rejects.toThrow(
      words,
    );
  });

  test.each([
    ["", "`engine` is empty: the engines are latest, "],
    ["deep-thought", 'There is no engine "deep-thought" here: the engines are latest, '],
  ])("the unknown engine %j is refused with a complete sentence", async (engine, words) => {
    await expect(validateRequest(requestOf({ engine }), knownEngines([full, lite]), allowed)).rejects.toThrow(
      words,
    );
  });

  test.each(["", "Stockfish-19", "stockfish-20", "LATEST", "stockfish-19 "])(
    "the unknown engine %j is refused with a list of the engines",
    async (engine) => {
      expect(await refusalOf({ engine })).toMatchObject({
        code: "unknown_engine",
        nextAction: "list_engines",
        violations: [{ pointer: "/engine", allowed: { enum: ["latest", full.id, lite.id, native.id] } }],
      });
    },
  );
});

test.each([
  [1, ["multipv_unsupported"]],
  [2, ["multipv_unsupported"]],
  [3, []],
])("a request for 3 lines to an engine that can print %d has the warnings %j", async (linesMax, codes) => {
  const plain = buildOf({ id: "plain", path: "native", linesMax });
  const { warnings } = await validateRequest(
    requestOf({ multipv: 3, engine: "plain" }),
    knownEngines([plain]),
    allowed,
  );
  expect(warnings.map(({ code }) => code)).toEqual(codes);
  expect(warnings.map(({ message }) => message).join()).toMatch(
    codes.length === 0 ? /^$/ : new RegExp(`"plain" can print only ${linesMax} lines? of a search`),
  );
});

describe("a warning", () => {
  const codesOf = async (overrides: Partial<AnalysisRequest>) =>
    (await validate(overrides)).warnings.map(({ code }) => code);

  test.each<[Partial<AnalysisRequest>, string[]]>([
    [{ movetimeMs: 500 }, ["default_depth_applied"]],
    [{ movetimeMs: 500, depth: 14 }, []],
    [{ movetimeMs: 500, nodes: 1000 }, []],
    [{ multipv: 2, searchMoves: ["e4", "d4"] }, []],
    [{ multipv: 3, searchMoves: ["e4", "d4", "e2e4"] }, ["multipv_reduced"]],
    [{ fen: "4k3/8/8/8/8/7p/7P/4K2R w K - 0 1", multipv: 8 }, []],
    [{ fen: "4k3/8/8/8/8/7p/7P/4K2R w K - 0 1", multipv: 9 }, ["multipv_reduced"]],
    [{ options: { skill_level: 1 } }, ["strength_limited"]],
    [{ options: { skill_level: 20 } }, []],
    [{ path: "native" }, ["engine_version_differs"]],
    [{ path: "native", engine: "latest" }, ["engine_version_differs"]],
    [{ path: "native", engine: "stockfish-18" }, []],
    [{ path: "wasm" }, []],
    [{ path: "auto" }, []],
    [{ engine: "stockfish-19-lite", path: "wasm" }, []],
    [{ fen: "8/8/4k3/8/8/4K3/4P3/8 w - - 3 9" }, []],
    [{ fen: "8/8/4k3/8/8/4K3/4P3/8 w - - 4 9" }, ["no_history"]],
    [{ fen: "8/8/4k3/8/8/4K3/4P3/8 w - - 3 9", moves: ["Kd3"] }, []],
    [
      { fen: "8/8/4k3/8/8/4K3/4P3/8 w - - 100 90", multipv: 10, movetimeMs: 50 },
      ["no_history", "fifty_move_horizon", "default_depth_applied", "multipv_reduced"],
    ],
    // A finished game is not searched. Only the warnings about a corrected position remain.
    [
      { fen: "7k/5Q2/6K1/8/8/8/8/8 b KQ -", multipv: 10, movetimeMs: 50 },
      ["castling_rights_removed", "clocks_defaulted"],
    ],
  ])("the request %j has the warnings %j", async (overrides, codes) => {
    expect(await codesOf(overrides)).toEqual(codes);
  });

  test("the warning about another engine version names both versions and the way to choose one", async () => {
    const { warnings } = await validate({ path: "native" });
    expect(warnings).toEqual([
      {
        code: "engine_version_differs",
        message:
          'The engine "stockfish-18" answers, because the latest, "stockfish-19", cannot run on the path "native" here. To choose a version, set `engine`.',
        field: "path",
      },
    ]);
  });

  test("the latest version on another path than its default has no warning about the engine version", async () => {
    const engines = knownEngines([full, buildOf({ path: "native" }), native]);
    for (const path of ["wasm", "native"] as const) {
      expect((await validateRequest(requestOf({ path }), engines, allowed)).warnings).toEqual([]);
    }
  });

  test.each([
    [20, "To search longer, set `depth` to at most 20."],
    [30, "To search longer, set `depth` to at most 30."],
    [14, "Your plan allows no greater depth."],
  ])("with a maximum depth of %i, the warning about the default depth says: %s", async (depthMax, words) => {
    const { warnings } = await validateRequest(requestOf({ movetimeMs: 3000 }), knownEngines(builds), {
      ...allowed,
      depthMax,
    });
    expect(warnings).toMatchObject([
      { code: "default_depth_applied", message: expect.stringContaining(words) },
    ]);
  });

  test.each([
    [1, "1 legal move,"],
    [8, "8 legal moves,"],
  ])("the warning about %i legal moves uses the right singular or plural", async (legal, words) => {
    const fens: Record<number, string> = {
      1: "7r/7k/b2n1p1p/3npr2/P3P3/BPp1KpP1/5P2/7R w - - 0 56",
      8: "4k3/8/8/8/8/7p/7P/4K2R w K - 0 1",
    };
    const { warnings } = await validate({ fen: fens[legal] ?? "", multipv: 10 });
    expect(warnings).toMatchObject([{ message: expect.stringContaining(words), field: "multipv" }]);
  });
});

test("if search_moves has fewer moves than the requested lines, a warning says so", async () => {
  const messageOf = async (searchMoves: readonly string[]) =>
    (await validate({ multipv: 3, searchMoves })).warnings.map(({ message }) => message);
  expect(await messageOf(["e4"])).toEqual(["`search_moves` names only 1 move, so there are no more lines."]);
  expect(await messageOf(["e4", "d4"])).toEqual([
    "`search_moves` names only 2 moves, so there are no more lines.",
  ]);
});

describe("a refusal", () => {
  test.each<[Partial<AnalysisRequest>, string, string[]]>([
    [{ fen: "bad" }, "invalid_fen", ["/fen", "/fen"]],
    [{ fen: "8/8/8/8/8/8/8/8 w - - 0 1" }, "illegal_position", ["/fen", "/fen"]],
    [{ moves: ["e4", "e4"] }, "illegal_move", ["/moves/1"]],
    [{ searchMoves: ["e5", "e4", "Ke3"] }, "illegal_move", ["/search_moves/0", "/search_moves/2"]],
    [{ fen: "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", searchMoves: ["Kg8"] }, "illegal_move", ["/search_moves/0"]],
    [
      { options: { hash: 1, skill_level: 99 } },
      "option_not_allowed",
      ["/options/hash", "/options/skill_level"],
    ],
  ])(
    "the request %j is refused with the code %s and a violation at each of %j",
    async (overrides, code, pointers) => {
      const error = await refusalOf(overrides);
      expect(error.code).toBe(code);
      expect(error.violations.map(({ pointer }) => pointer)).toEqual(pointers);
    },
  );

  test("a request is validated in this order: position, moves to search, engine, options", async () => {
    const legal = { fen: startFen, searchMoves: ["e4"], options: { y: 1 } };
    const everything = { fen: "bad", searchMoves: ["e5"], engine: "x", options: { y: 1 } };
    expect((await refusalOf(everything)).code).toBe("invalid_fen");
    expect((await refusalOf({ ...everything, fen: startFen })).code).toBe("illegal_move");
    expect((await refusalOf({ ...legal, engine: "x" })).code).toBe("unknown_engine");
    expect((await refusalOf(legal)).code).toBe("option_not_allowed");
  });

  test("the violation of an illegal move to search lists the legal moves, unless the game is over", async () => {
    const fen = "8/8/8/8/8/4k3/8/4K3 w - - 0 1";
    expect((await refusalOf({ fen, searchMoves: ["Kf5"] })).violations).toMatchObject([
      { pointer: "/search_moves/0", allowed: { enum: ["e1d1", "e1f1"] } },
    ]);
    const mated = { fen: "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", searchMoves: ["Kg8"] };
    expect((await refusalOf(mated)).violations[0]).not.toHaveProperty("allowed");
  });

  test("the violation of a misspelled move to search contains all moves with corrected spelling, if each can mean only one move", async () => {
    const violationOf = async (searchMoves: readonly string[]) =>
      (await refusalOf({ searchMoves })).violations[0];
    expect(await violationOf(["e4", "nf3"])).toMatchObject({
      pointer: "/search_moves/1",
      instead: { search_moves: ["e4", "Nf3"] },
    });
    expect(await violationOf(["e4", "Ke2"])).not.toHaveProperty("instead");
  });

  test("the violation for an incomplete FEN suggests the complete FEN", async () => {
    const fen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b";
    expect((await refusalOf({ fen, moves: ["e5"], depth: 3 })).violations).toMatchObject([
      { pointer: "/fen", allowed: { examples: [`${fen} KQkq - 0 1`] } },
    ]);
  });

  test("the violation for a FEN suggests nothing if the FEN cannot be completed", async () => {
    const { violations } = await refusalOf({ fen: "8/8/8/8/8/8/8/8 w" });
    expect(violations.filter(({ allowed }) => allowed !== undefined)).toEqual([]);
  });
});

const inputOf = (overrides: Partial<PositionInput> = {}): PositionInput => ({
  fen: startFen,
  moves: [],
  chess960: false,
  ...overrides,
});

describe("the cache of positions", () => {
  test("a valid position is validated once, and an invalid position is validated for every request", async () => {
    const validate = createPositionCache(createTimeSlicer());
    const first = await validate(inputOf());
    expect(first).toEqual(validatePosition(inputOf()));
    expect(await validate(inputOf())).toBe(first);
    const bad = inputOf({ fen: "nonsense" });
    expect(await validate(bad)).not.toBe(await validate(bad));
  });

  test.each<[string, Partial<PositionInput>]>([
    ["another FEN text", { fen: ` ${startFen}` }],
    ["another variant", { chess960: true }],
    ["moves", { moves: ["e4"] }],
    ["a FEN that begins like the name of a variant", { fen: `960 ${startFen}` }],
    ["an invalid FEN", { fen: "nonsense" }],
    ["a FEN that is too long", { fen: `${startFen}${" ".repeat(200)}x` }],
  ])("the position cache does not confuse the start position with %s", async (_, overrides) => {
    const validate = createPositionCache(createTimeSlicer());
    for (const chess960 of [false, true, false, true]) {
      await validate(inputOf({ chess960 }));
    }
    expect(await validate(inputOf(overrides))).toEqual(validatePosition(inputOf(overrides)));
  });

  test("the position cache does not confuse a long list of moves with a FEN that contains a part of the list", async () => {
    const validate = createPositionCache(createTimeSlicer());
    const moves = Array.from(
      { length: movesAtOnce + 8 },
      (_, ply) => ["Nf3", "Nf6", "Ng1", "Ng8"][ply % 4] ?? "",
    );
    expect((await validate(inputOf({ moves }))).kind).toBe("position");
    const [first, ...others] = moves;
    for (const separator of ["\n", ",", '","']) {
      const cut = { fen: `${startFen}${separator}${first}`, moves: others };
      expect((await validate(inputOf(cut))).kind).toBe("violations");
    }
  });
});
