import type { Tool } from "./tool.ts";
import { analyzePosition } from "./tools/analyze-position.ts";
import { compareMoves } from "./tools/compare-moves.ts";
import { playMoves } from "./tools/play-moves.ts";
import { reviewGame } from "./tools/review-game.ts";

/** All tools, always in this order. There are only a few tools, because models confuse similar tools. */
export const tools: readonly Tool[] = [analyzePosition, compareMoves, reviewGame, playMoves];

export const instructions =
  'Kibitz asks a real Stockfish about chess. Never make up a position, a FEN or an evaluation: give a position as a start and its moves (fen: "startpos", moves: ["e4", "e5"]) or copy a FEN from an answer, and quote what the tools say. play_moves shows the board and all legal moves. Where a call is refused, its text says why and often which call would be answered.';

export const annotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
} as const;
