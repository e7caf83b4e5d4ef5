import { expect } from "vitest";
import { type AnswerCase, type RefusalCase, startFen } from "./case.ts";

const common = { kind: "answer", call: "reviewGame" } as const;

const foolsMate = `[White "Anna"]
[Black "Ben"]

1. f3 {[%clk 0:04:58]} e5 2. g4 $6 {no} (2. e4) 2... Qh4# 0-1
`;

const knightMoves = (plies: number) =>
  Array.from({ length: plies }, (_, ply) => ["Nf3", "Nf6", "Ng1", "Ng8"][ply % 4]).join(" ");

/** The expected reviews are the same for every engine. */
export const reviews: readonly AnswerCase[] = [
  {
    ...common,
    name: "reviews a game in PGN",
    request: { pgn: foolsMate, depth: 4, lines: 2 },
    answer: {
      review: {
        variant: "standard",
        start_fen: startFen,
        tags: { White: "Anna", Black: "Ben" },
        engine: { id: "stockfish-19-lite", path: "wasm" },
        method: "lichess-2026",
        opening: { eco: "A00", ply: 4 },
        players: {
          white: { accuracy: expect.any(Number), phases: { opening: { blunders: 1 } } },
          black: { mistakes: 0, blunders: 0 },
        },
        moves: [
          { ply: 1, move: { uci: "f2f3" }, labels: ["book"], phase: "opening", clock_ms: 298_000 },
          { ply: 2, move: { san: "e5" }, best: { alternatives: [{ rank: 2 }] } },
          { ply: 3, judgement: "blunder", evaluation: { mate: -1 }, win_percent: expect.closeTo(2.4553, 3) },
          {
            ply: 4,
            evaluation: { mate: 0, win_percent: 0 },
            accuracy: 100,
            labels: expect.arrayContaining(["best"]),
          },
        ],
        pgn: expect.stringMatching(
          /^\[White "Anna"\]\n.*\n\n1\. f3 .*\[%eval .*\[%clk 0:04:58\].*\{ no \}.* 0-1\n$/,
        ),
        search: {
          positions: 4,
          searched: 4,
          cached: 0,
          nodes: expect.any(Number),
          limits: { depth: 4, lines: 2 },
          deterministic: true,
        },
        summary: expect.stringMatching(
          /^White played with .*% accuracy, Black with .*; the game turned at 2\. g4 \(blunder\)\.$/,
        ),
      },
    },
  },
  {
    ...common,
    name: "reviews a game of Chess960 that is sent as moves, by nodes",
    request: {
      fen: "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9",
      moves: ["b2b4", "b7b5"],
      nodes: 500,
    },
    answer: {
      review: {
        variant: "chess960",
        start_evaluation: { cp: expect.any(Number) },
        tags: {},
        moves: [{ move: { san: "b4" } }, { move: { san: "b5" } }],
        search: { positions: 3, limits: { nodes: 500, lines: 1 } },
      },
    },
  },
  {
    ...common,
    name: "reviews a PGN as people write it, and warns of each correction",
    request: {
      pgn: '[fen "4k3/8/8/8/8/8/4P3/4K3 w K - 0 1"]\n[Result "0-0"]\n\n1. e4 kd7 ☆ 0-0',
      nodes: 200,
    },
    answer: {
      review: {
        start_fen: "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1",
        tags: { FEN: "4k3/8/8/8/8/8/4P3/4K3 w K - 0 1", Result: "0-0" },
        moves: [{ move: { san: "e4" } }, { move: { san: "Kd7" } }],
        pgn: expect.stringMatching(/^\[FEN .*\n\[Result "0-0"\]\n[\s\S]*Kd7.*\{ ☆ \}.* \*\n$/),
        warnings: [
          { code: "castling_rights_removed", field: "pgn" },
          {
            code: "pgn_corrected",
            message: "The tag fen was read as FEN (ply 1, line 1, column 1).",
            field: "pgn",
          },
          { code: "pgn_corrected", message: expect.stringContaining("'kd7' was read as Kd7") },
          { code: "pgn_corrected", message: expect.stringContaining("'☆' is not a glyph") },
          { code: "pgn_corrected", message: expect.stringContaining("double forfeit") },
        ],
      },
    },
  },
];

const refused = { kind: "refusal", call: "reviewGame", nextAction: "fix_request" } as const;

export const refusedReviews: readonly RefusalCase[] = [
  {
    ...refused,
    name: "a review without a game",
    request: { depth: 5 },
    code: "invalid_pgn",
    pointers: ["/pgn"],
  },
  {
    ...refused,
    name: "a review of a game that is sent twice",
    request: { pgn: "1. e4", moves: ["e4"] },
    code: "invalid_pgn",
    pointers: ["/pgn"],
  },
  {
    ...refused,
    name: "a review of a position without moves",
    request: { fen: startFen },
    code: "invalid_pgn",
    pointers: ["/moves"],
  },
  {
    ...refused,
    name: "a review of an empty text",
    request: { pgn: "" },
    code: "invalid_pgn",
    pointers: ["/pgn"],
  },
  {
    ...refused,
    name: "a review of a game with a key in a comment, which the answer would repeat",
    request: { pgn: "1. e4 {kbz_TUt7cvvxFupzcXr46l6vw7wWGqL83m0F5lnN} e5" },
    code: "invalid_pgn",
    pointers: ["/pgn"],
  },
  {
    ...refused,
    name: "a review of several games",
    request: { pgn: '[Event "a"]\n\n1. e4 e5 *\n\n[Event "b"]\n\n1. d4 *' },
    code: "invalid_pgn",
    pointers: ["/pgn"],
  },
  {
    ...refused,
    name: "a review of a game with an illegal move",
    request: { pgn: "1. e4 e5\n2. Ke3 Ke7", depth: 5 },
    code: "illegal_move",
    pointers: ["/pgn"],
    suggestion: { pgn: "1. e4 e5", depth: 5 },
  },
  {
    ...refused,
    name: "a review of a game with German letters, in English letters in the suggestion",
    request: { pgn: "1. e4 e5 2. Sf3 Sc6 *", depth: 5 },
    code: "invalid_pgn",
    pointers: ["/pgn"],
    suggestion: { pgn: "1. e4 e5 2. Nf3 Nc6 *", depth: 5 },
  },
  {
    ...refused,
    name: "a review of a game with more than 600 plies",
    // The game is too long for a suggestion.
    request: { pgn: `{${"x".repeat(64 * 1024)}} ${knightMoves(2000)}` },
    code: "out_of_range",
    pointers: ["/pgn"],
  },
  {
    ...refused,
    name: "a review of a game with more than 5,000 moves in its variations",
    request: { pgn: `1. d4 ${"(d4!{a})".repeat(5100)} d5` },
    code: "invalid_pgn",
    pointers: ["/pgn"],
  },
  {
    ...refused,
    name: "a review of moves of which one is illegal",
    request: { fen: "startpos", moves: ["e4", "e5", "Ke3"], path: "auto" },
    code: "illegal_move",
    pointers: ["/moves/2"],
    suggestion: { fen: "startpos", moves: ["e4", "e5"], path: "auto" },
  },
  {
    ...refused,
    name: "a review at more depth and with more lines than there may be",
    request: { moves: ["Nf3"], depth: 31, lines: 4 },
    code: "out_of_range",
    pointers: ["/depth", "/lines"],
    suggestion: { moves: ["Nf3"], depth: 30, lines: 3 },
  },
  {
    ...refused,
    name: "a review by an engine that is not there",
    request: { pgn: "1. e4", engine: "stockfish-1" },
    code: "unknown_engine",
    nextAction: "list_engines",
    pointers: ["/engine"],
  },
  {
    ...refused,
    name: "a review of a position that cannot be",
    request: { fen: "4k3/8/8/8/8/8/8/8 w - - 0 1", moves: ["e4"] },
    code: "illegal_position",
    pointers: ["/fen"],
  },
];
