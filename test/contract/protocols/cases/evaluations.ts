import { expect } from "vitest";
import { type AnswerCase, defaultDepth, mateFen, startFen } from "./case.ts";

const common = { kind: "answer", call: "evaluate" } as const;

/** The expected answers are the same for every engine. */
export const evaluations: readonly AnswerCase[] = [
  {
    ...common,
    name: "evaluates the start position",
    request: { fen: startFen, depth: 6 },
    answer: {
      fen: startFen,
      turn: "white",
      chess960: false,
      engine: { id: "stockfish-19-lite", name: "Stockfish 19 Lite WASM", version: "19", path: "wasm" },
      score: { cp: expect.any(Number), bound: "exact" },
      lines: [{ rank: 1, depth: 6, moves: expect.any(Array) }],
      search: {
        depth: 6,
        stop_reason: "depth",
        deterministic: true,
        cached: false,
        limits: { depth: 6, multipv: 1, options: {}, search_moves: [] },
      },
    },
    absent: ["terminal", "draw_claimable"],
  },
  {
    ...common,
    name: "takes a word for the start position",
    request: { fen: "startpos", moves: ["e4"], depth: 5 },
    answer: { fen: "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1", turn: "black" },
  },
  {
    ...common,
    name: "ends a search by its nodes, as deep as they last",
    request: { fen: startFen, nodes: 4000 },
    answer: {
      search: {
        depth: expect.toSatisfy((depth: number) => depth > 2),
        nodes: expect.toSatisfy((nodes: number) => nodes >= 4000 && nodes < 4400),
        stop_reason: "nodes",
        deterministic: true,
        limits: expect.toSatisfy(
          (limits: Readonly<Record<string, unknown>>) =>
            limits.nodes === 4000 && limits.depth === undefined && limits.movetime_ms === undefined,
        ),
      },
    },
    // The best move may be newer than the lines. This depends on the engine.
    warnings: expect.any(Array) as unknown as readonly string[],
  },
  {
    ...common,
    call: "findBestMove",
    name: "ends a search by the limit that is reached first",
    request: { fen: startFen, nodes: 1_000_000_000, depth: 5, movetime_ms: 60_000 },
    answer: {
      search: {
        depth: 5,
        stop_reason: "depth",
        deterministic: true,
        limits: { depth: 5, nodes: 1_000_000_000, movetime_ms: 60_000 },
      },
    },
  },
  {
    ...common,
    name: "has one line and a warning where the nodes are too few for an iteration",
    request: { fen: startFen, nodes: 1, multipv: 3 },
    answer: { lines: [{ rank: 1, depth: 1 }], search: { stop_reason: "nodes", deterministic: true } },
    warnings: ["incomplete_iteration"],
  },
  {
    ...common,
    name: "searches only the moves that are named, in the notations of both",
    request: { fen: startFen, depth: 6, multipv: 2, search_moves: ["a3", "h2h3", "a2a3"] },
    answer: {
      best_move: { uci: expect.stringMatching(/^(a2a3|h2h3)$/) },
      lines: expect.toSatisfy((lines: readonly { readonly moves: readonly string[] }[]) => {
        const moves = lines.map((line) => line.moves[0]);
        return moves.toSorted().join(" ") === "a2a3 h2h3";
      }),
      search: { deterministic: true, limits: { search_moves: ["a2a3", "h2h3"] } },
    },
  },
  {
    ...common,
    call: "findBestMove",
    name: "castles where that is the only move named, and gives one line",
    request: { fen: "4k3/8/8/8/8/7p/7P/4K2R w K - 0 1", depth: 6, multipv: 3, search_moves: ["O-O"] },
    answer: {
      best_move: { uci: "e1g1", castling: "kingside" },
      lines: [{ rank: 1 }],
      search: { limits: { search_moves: ["e1g1"] } },
    },
    warnings: ["multipv_reduced"],
  },
  {
    ...common,
    name: "castles in Chess960 where that is the only move named",
    request: { fen: "4R3/8/8/8/8/5k1P/7P/5K1R w H - 0 1", depth: 6, search_moves: ["O-O"] },
    answer: { best_move: { uci: "f1h1" }, search: { limits: { search_moves: ["f1h1"] } } },
  },
  {
    ...common,
    name: "searches to the default depth where no limit is given, and says so",
    request: { fen: mateFen },
    answer: {
      search: { depth: defaultDepth, stop_reason: "depth", limits: { depth: defaultDepth, multipv: 1 } },
    },
  },
  {
    ...common,
    call: "findBestMove",
    name: "finds the best move, with all that a board needs to play it",
    request: { fen: "7k/6pp/8/8/8/8/8/K2R4 w - - 0 1", depth: 6 },
    answer: {
      best_move: {
        uci: "d1d8",
        san: "Rd8#",
        from: "d1",
        to: "d8",
        capture: false,
        check: true,
        fen_after: "3R3k/6pp/8/8/8/8/8/K7 b - - 1 1",
      },
      score: { mate: 1 },
      summary: "White mates in 1. Best move: Rd8#.",
    },
    absent: ["ponder"],
  },
  {
    ...common,
    call: "findBestMove",
    name: "names the piece that a pawn becomes",
    request: { fen: "3r3k/4P1pp/8/8/8/8/8/K7 w - - 0 1", depth: 6 },
    answer: { best_move: { uci: "e7d8q", san: "exd8=Q#", promotion: "queen", capture: true } },
    absent: ["ponder"],
  },
  {
    ...common,
    name: "gives as many lines as asked, best first",
    request: { fen: startFen, depth: 5, multipv: 3 },
    answer: { lines: [{ rank: 1 }, { rank: 2 }, { rank: 3 }], search: { limits: { multipv: 3 } } },
  },
  {
    ...common,
    name: "counts a mate in moves, positive when White mates",
    request: { fen: "7k/8/8/8/8/8/R7/1R4K1 w - - 0 1", depth: 14 },
    answer: { score: { mate: 2, wdl: { win: 1000, draw: 0, loss: 0 }, win_percent: 100 } },
  },
  {
    ...common,
    name: "counts a mate in moves, negative when Black mates",
    request: { fen: "1r4k1/r7/8/8/8/8/8/7K b - - 0 1", depth: 14 },
    answer: {
      turn: "black",
      score: { mate: -2, wdl: { win: 0, draw: 0, loss: 1000 }, win_percent: 0 },
      summary: expect.stringMatching(/^Black mates in 2\. Best move: /),
    },
  },
  {
    ...common,
    name: "keeps the sign when the side that is mated is to move",
    request: { fen: "1r4Rk/4NP1b/7K/8/8/8/8/8 b - - 0 1", depth: 12 },
    answer: { turn: "black", score: { mate: 2, win_percent: 100 } },
  },
  {
    ...common,
    name: "scores for White when White, with a rook more, is not to move",
    request: { fen: "4k3/pppp4/8/8/8/8/PPPP4/R3K3 b - - 0 1", depth: 7 },
    answer: { turn: "black", score: { cp: expect.toSatisfy((cp: number) => cp > 300) } },
  },
  {
    ...common,
    name: "scores for White when Black, with a rook more, is to move",
    request: { fen: "r3k3/pppp4/8/8/8/8/PPPP4/4K3 b - - 0 1", depth: 7 },
    answer: { turn: "black", score: { cp: expect.toSatisfy((cp: number) => cp < -300) } },
  },
  {
    ...common,
    name: "castles in Chess960 as king takes rook",
    request: { fen: "4R3/8/8/8/8/5k1P/7P/5K1R w H - 0 1", depth: 8 },
    answer: {
      // This FEN is recognized as Chess960 even without the field `chess960`.
      fen: "4R3/8/8/8/8/5k1P/7P/5K1R w H - 0 1",
      chess960: true,
      best_move: {
        uci: "f1h1",
        san: "O-O#",
        from: "f1",
        to: "h1",
        castling: "kingside",
        capture: false,
        fen_after: "4R3/8/8/8/8/5k1P/7P/5RK1 b - - 1 1",
      },
    },
  },
  {
    ...common,
    name: "takes KQkq for Chess960 where the option says so",
    request: {
      fen: "4R3/8/8/8/8/5k1P/7P/5K1R w K - 0 1",
      depth: 8,
      options: { uci_chess960: true },
    },
    answer: {
      fen: "4R3/8/8/8/8/5k1P/7P/5K1R w H - 0 1",
      chess960: true,
      best_move: { uci: "f1h1" },
      search: { limits: { options: { uci_chess960: true } } },
    },
  },
  {
    ...common,
    name: "castles in standard chess as the king goes, and gives no more lines than there are moves",
    request: { fen: "4k3/8/8/8/8/7p/7P/4K2R w K - 0 1", depth: 6, multipv: 10 },
    answer: {
      chess960: false,
      lines: expect.toSatisfy(
        (lines: readonly { readonly moves: readonly string[]; readonly san: readonly string[] }[]) =>
          lines.length === 8 && lines.some(({ moves, san }) => moves[0] === "e1g1" && san[0] === "O-O"),
      ),
      search: { limits: { multipv: 10 } },
    },
    warnings: ["multipv_reduced"],
  },
  {
    ...common,
    name: "ends a search by its time",
    request: { fen: startFen, depth: 30, movetime_ms: 60 },
    answer: {
      search: { stop_reason: "movetime", deterministic: false, limits: { depth: 30, movetime_ms: 60 } },
    },
    // The result depends on the speed of the machine.
    warnings: expect.any(Array) as unknown as readonly string[],
  },
  {
    ...common,
    name: "takes the engine and path that are asked for",
    request: { fen: startFen, depth: 4, engine: "stockfish-19-lite", path: "wasm" },
    answer: { engine: { id: "stockfish-19-lite", path: "wasm" } },
  },
];
