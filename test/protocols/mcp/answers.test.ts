import { describe, expect, test } from "vitest";
import { KibitzError } from "../../../src/errors/errors.ts";
import type { Caller } from "../../../src/protocols/mcp/caller.ts";
import { evaluate } from "../../../src/protocols/mcp/evaluation.ts";
import { compareMoves } from "../../../src/protocols/mcp/tools/compare-moves.ts";
import { startFen } from "../../chess/validated.ts";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { useApp } from "../../support/running-app.ts";
import { newest, type Step } from "./agents.ts";

describe("answers of tools", () => {
  const app = useApp({}, { engines: createEnginesInProcess() });
  const ask = async (tool: string, args: Readonly<Record<string, unknown>>) => {
    const result = await (await newest.overHttp(app.url)).ask(tool, args);
    expect(result.isError, result.text).toBe(false);
    return result;
  };

  const mate = ["f3", "e5", "g4", "Qh4#"];
  const shuffle = Array.from({ length: 4 }, () => ["Nf3", "Nf6", "Ng1", "Ng8"]).flat();
  test.each([
    ["that ends by mate and is sent as moves", { moves: mate }, "White – Black, 0-1, 4 half-moves", "0-1"],
    [
      "that ends by repetition and is sent as moves",
      { moves: shuffle },
      "White – Black, 1/2-1/2, 16 half-moves",
      "1/2-1/2",
    ],
    ["without a result", { moves: ["e4"] }, "White – Black, *, 1 half-move", "*"],
    ["with a result after the moves", { pgn: "1. e4 e5 1-0" }, "White – Black, 1-0, 2 half-moves", "1-0"],
    [
      "with a result in a tag",
      { pgn: '[Result "0-1"]\n\n1. e4 {a 1-0 b}' },
      "White – Black, 0-1, 1 half-move",
      "0-1",
    ],
    [
      "between players without a name",
      { pgn: '[White "?"]\n[Black ""]\n[Result "*"]\n\n1. f3 e5 2. g4 Qh4# *' },
      "White – Black, *, 4 half-moves",
      "*",
    ],
  ])("the MCP tool review_game reports the result of a game %s", async (_, game, title, result) => {
    const { text, structured } = await ask("review_game", { ...game, depth: 1 });
    expect(text.split("\n")[0]).toBe(title);
    expect(structured?.result).toBe(result);
  });

  test.each([
    ["analyze_position", 2],
    ["review_game", undefined],
  ])("the MCP tool %s reports corrections of a PGN in its text and its data", async (tool, ply) => {
    const pgn = '[fen "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"]\n\n1. e4 kd7 2. e5 *';
    const { text, structured } = await ask(tool, { pgn, ply, depth: 1 });
    const corrections = [/^The tag fen was read as FEN /, /^'kd7' was read as Kd7 /];
    expect(structured?.warnings).toEqual(corrections.map((message) => expect.stringMatching(message)));
    expect(text).toMatch(/^Note: The tag fen was read as FEN .*\nNote: 'kd7' was read as Kd7 /m);
  });

  test("an MCP tool analyzes a game with German piece letters, and mentions the language", async () => {
    const { text } = await ask("analyze_position", { pgn: "1. e4 e5 2. Sf3 Sc6", depth: 1 });
    expect(text).toMatch(
      /^Note: The pieces of `pgn` have letters of another language, or its pawns have a letter\.$/m,
    );
    expect(text).toContain("r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3");
  });

  test.each([
    ["that was escaped twice", '[Event \\"x\\"]\\n\\n1. e4 e5', /escaped twice or in quotation marks/],
    ["that is percent-encoded", "1.%20e4%20e5", /`pgn` was percent-encoded/],
    ["whose pawns have a letter", "1. Pe4 Pe5", /its pawns have a letter/],
  ])("an MCP tool analyzes a game %s, with a note", async (_, pgn, note) => {
    const { text } = await ask("analyze_position", { pgn, depth: 1 });
    expect(text).toMatch(note);
    expect(text).toContain("rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2");
  });

  test("the MCP tool review_game reads a game that was escaped twice", async () => {
    const { structured } = await ask("review_game", { pgn: '[Event \\"x\\"]\\n\\n1. e4 e5', depth: 1 });
    expect(structured?.moves).toMatchObject([{ san: "e4" }, { san: "e5" }]);
  });

  test("MCP tools read moves that are sent as one text, with a note", async () => {
    const { text, structured } = await ask("play_moves", { moves: "1. e4 e5 2.Nf3" });
    expect(text).toContain("`moves` was read as a list: e4, e5, Nf3.");
    expect(structured?.fen).toBe("rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2");
    const compared = await ask("compare_moves", { candidates: "e4, d4", depth: 1 });
    expect(compared.text).toContain("`candidates` was read as a list: e4, d4.");
  });

  test.each([
    ["as moves", { moves: mate }],
    ["as PGN", { pgn: "1. f3 (1. e4 e5) e5 2. g4 Qh4# 0-1" }],
  ])("an MCP client gets the progress of a review of a game that is sent %s", async (_, game) => {
    const agent = await newest.overHttp(app.url);
    const steps: Step[] = [];
    const onprogress = (step: Step) => void steps.push(step);
    await agent.ask("review_game", { ...game, depth: 1 }, { onprogress });
    expect(
      steps.filter(({ progress }) => progress > 0).map(({ progress, total }) => [progress, total]),
    ).toEqual([
      [1, 4],
      [2, 4],
      [3, 4],
      [4, 4],
    ]);
  });

  test.each([
    [{}, /^The game goes on\.\n/],
    [{ moves: ["e4"] }, /^After 1 half-move, the last one e4 \(e2e4\): the game goes on\.\n/],
    [{ fen: "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1" }, /^The game is over, a draw by stalemate \(1\/2-1\/2\)\.\n/],
  ])(
    "the text of the MCP tool play_moves for %j begins with a sentence about the game",
    async (game, sentence) => {
      expect((await ask("play_moves", game)).text).toMatch(sentence);
    },
  );
});

/** Creates a fake client of the service. A method that is not in `calls` fails the test. */
function callerOf(calls: Partial<Caller>): Caller {
  const unexpected = () => expect.fail("no other call was expected");
  return {
    once: unexpected,
    stream: unexpected,
    check: unexpected,
    isPlainMove: unexpected,
    readPastedFen: unexpected,
    play: unexpected,
    playUncounted: unexpected,
    readGame: unexpected,
    readGameUncounted: unexpected,
    ...calls,
  };
}

test("an MCP tool shows how many pawns and how much winning chance a candidate move loses", async () => {
  const found = [
    { san: "e4", cp: 30, percent: 52.8 },
    { san: "d4", cp: 20, percent: 51.8 },
    { san: "c4", cp: 20, percent: 51.7 },
  ];
  const evaluation = {
    fen: startFen,
    lines: found.map(({ san, cp, percent }, index) => ({
      rank: index + 1,
      score: { cp, mate: null, bound: "exact", win_percent: percent },
      san: [san],
      moves: ["a2a3"],
    })),
    search: { depth: 9 },
    engine: { name: "Stockfish" },
    warnings: [],
  };
  const caller = callerOf({ once: async () => evaluation });
  const { text } = await compareMoves.call({ candidates: ["e4", "d4", "c4"] }, caller);
  expect(text).toContain("loses 0.10 pawns and 1.0 points of winning chances.");
  expect(text).toContain("loses 0.10 pawns and 1.1 points of winning chances.");
});

test.each(["not_in_tablebase", "starting"] as const)(
  "the engine ranks candidate moves if the look-up of their results fails with %s",
  async (code) => {
    const score = { cp: 30, mate: null, bound: "exact", win_percent: 50 };
    const evaluation = {
      fen: startFen,
      lines: ["e4", "d4"].map((san, index) => ({ rank: index + 1, score, san: [san], moves: ["a2a3"] })),
      tablebase: { category: "draw", winner: null, dtz_plies: null, men: 4 },
      search: { depth: 9 },
      warnings: [],
    };
    const once = async ({ name }: { readonly name: string }) => {
      if (name === "ProbeTablebase") {
        throw new KibitzError(code, "A table is missing or being verified.");
      }
      return evaluation;
    };
    const { structured } = await compareMoves.call({ candidates: ["e4", "d4"] }, callerOf({ once }));
    expect(structured.moves).toMatchObject([
      { rank: 1, san: "e4" },
      { rank: 2, san: "d4" },
    ]);
  },
);

test.each([
  // A search that ends at its node limit reports a last state with an unfinished depth.
  [
    [1, 2, 3, 3],
    [0, 1, 2, 3],
  ],
  [[0], [0]],
])("search depths %j are reported to an MCP client as the progress %j", async (depths, reported) => {
  async function* stream() {
    yield { queued: { place: 1 }, evaluation: null };
    for (const [index, depth] of depths.entries()) {
      const search = { depth, nodes: index, limits: { depth: null } };
      const score = { cp: index, mate: null, bound: "exact", win_percent: 50 };
      yield { queued: null, evaluation: { search, score, best_move: null } };
    }
  }
  const progress: number[] = [];
  const found = await evaluate({}, callerOf({ stream }), (step) => void progress.push(step.progress));
  expect(progress).toEqual(reported);
  expect(found.search.nodes).toBe(depths.length - 1);
});
