import { expect } from "vitest";
import { type AnswerCase, startFen } from "./case.ts";

const common = { kind: "answer", call: "evaluate" } as const;

const noSearch = { depth: 0, nodes: 0, time_ms: 0, stop_reason: "terminal" } as const;
const drawn = { cp: 0, bound: "exact", wdl: { win: 0, draw: 1000, loss: 0 }, win_percent: 50 } as const;
/** Both sides move a knight and return it, so the position repeats. */
const shuffle = ["Nf3", "Nf6", "Ng1", "Ng8"] as const;

export const games: readonly AnswerCase[] = [
  {
    ...common,
    name: "says who has won by checkmate, and asks no engine",
    request: { fen: "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3", depth: 12 },
    answer: {
      terminal: { reason: "checkmate", winner: "black", result: "0-1" },
      score: { mate: 0, bound: "exact", wdl: { win: 0, draw: 0, loss: 1000 }, win_percent: 0 },
      lines: [],
      search: { ...noSearch, limits: { depth: 12 } },
      summary: "Checkmate: Black has won.",
    },
    absent: ["engine", "best_move", "ponder", "draw_claimable"],
  },
  {
    ...common,
    call: "findBestMove",
    name: "has no best move in stalemate",
    request: { fen: "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1" },
    answer: {
      terminal: { reason: "stalemate", result: "1/2-1/2" },
      score: drawn,
      lines: [],
      search: noSearch,
    },
    absent: ["engine", "best_move", "ponder"],
  },
  {
    ...common,
    name: "knows a dead position",
    request: { fen: "8/8/4k3/8/8/4K1N1/8/8 w - - 0 1" },
    answer: { terminal: { reason: "insufficient_material" }, score: drawn },
    absent: ["engine", "best_move"],
  },
  {
    ...common,
    name: "reads moves in UCI and in SAN, and analyses the position after them",
    request: { fen: startFen, moves: ["e4", "e7e5", "Nf3"], depth: 6 },
    answer: { fen: "rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2", turn: "black" },
  },
  {
    ...common,
    name: "sees a position stand for the third time",
    request: { fen: startFen, moves: [...shuffle, ...shuffle], depth: 6 },
    answer: { draw_claimable: "threefold_repetition", best_move: { san: expect.any(String) } },
    absent: ["terminal"],
  },
  {
    ...common,
    name: "ends the game when a position stands for the fifth time",
    request: { fen: startFen, moves: [...shuffle, ...shuffle, ...shuffle, ...shuffle] },
    answer: { terminal: { reason: "fivefold_repetition", result: "1/2-1/2" }, score: drawn },
    absent: ["engine", "best_move", "draw_claimable"],
  },
  {
    ...common,
    name: "warns that repetitions cannot be seen in a FEN",
    request: { fen: "8/8/4k3/8/8/4K3/4P3/8 w - - 4 9", depth: 6 },
    answer: {},
    warnings: ["no_history"],
  },
  {
    ...common,
    name: "reports that a draw by 50 moves may be claimed",
    request: { fen: "8/8/4k3/4p3/8/4K3/4P3/8 w - - 100 90", depth: 6 },
    answer: { draw_claimable: "fifty_moves" },
    warnings: ["no_history", "fifty_move_horizon"],
  },
];
