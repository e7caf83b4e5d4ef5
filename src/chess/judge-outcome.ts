import type { Chess } from "chessops/chess";
import { SquareSet } from "chessops/squareSet";
import { opposite } from "chessops/util";
import type { DrawClaim, Terminal, TerminalReason } from "./position.ts";

export interface Outcome {
  readonly legalMoveCount: number;
  readonly terminal: Terminal | undefined;
  readonly drawClaim: DrawClaim | undefined;
}

/** Plies without capture or pawn move from which a draw may be claimed (FIDE 9.3), and at which it is one (9.6.2). */
const claimablePlies = 100;
const drawnPlies = 150;

/** How often a position must have stood on the board for the same two draws (FIDE 9.2, 9.6.1). */
const claimableOccurrences = 3;
const drawnOccurrences = 5;

/** Whether the game is over by the rules; checkmate comes before every draw. `occurrences` includes the present one. */
export function judgeOutcome(chess: Chess, occurrences: number): Outcome {
  const legalMoveCount = countLegalMoves(chess);
  const terminal = terminalOf(chess, legalMoveCount, occurrences);
  return { legalMoveCount, terminal, drawClaim: terminal ? undefined : drawClaimOf(chess, occurrences) };
}

function terminalOf(chess: Chess, legalMoveCount: number, occurrences: number): Terminal | undefined {
  if (legalMoveCount === 0 && chess.isCheck()) {
    const winner = opposite(chess.turn);
    return { reason: "checkmate", winner, result: winner === "white" ? "1-0" : "0-1" };
  }
  if (legalMoveCount === 0) {
    return drawBy("stalemate");
  }
  if (chess.isInsufficientMaterial()) {
    return drawBy("insufficient_material");
  }
  if (chess.halfmoves >= drawnPlies) {
    return drawBy("seventyfive_moves");
  }
  if (occurrences >= drawnOccurrences) {
    return drawBy("fivefold_repetition");
  }
  return undefined;
}

function drawClaimOf(chess: Chess, occurrences: number): DrawClaim | undefined {
  if (chess.halfmoves >= claimablePlies) {
    return "fifty_moves";
  }
  if (occurrences >= claimableOccurrences) {
    return "threefold_repetition";
  }
  return undefined;
}

function drawBy(reason: Exclude<TerminalReason, "checkmate">): Terminal {
  return { reason, winner: undefined, result: "1/2-1/2" };
}

function countLegalMoves(chess: Chess): number {
  const context = chess.ctx();
  let count = 0;
  for (const from of chess.board[chess.turn]) {
    const targets = chess.dests(from, context);
    count += targets.size();
    // A pawn that arrives becomes one of four pieces.
    if (chess.board.pawn.has(from)) {
      count += 3 * targets.intersect(SquareSet.backranks()).size();
    }
  }
  return count;
}
