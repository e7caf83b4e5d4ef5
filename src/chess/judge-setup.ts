import { kingAttacks } from "chessops/attacks";
import type { Board } from "chessops/board";
import { Chess, IllegalSetup } from "chessops/chess";
import type { Setup } from "chessops/setup";
import { SquareSet } from "chessops/squareSet";
import { COLORS, type Color, type Role } from "chessops/types";
import { makeSquare, opposite } from "chessops/util";
import type { Notice } from "./position.ts";

export type SetupJudgement =
  | { kind: "chess"; chess: Chess; notices: readonly Notice[] }
  | { kind: "problems"; problems: readonly string[] };

/**
 * Refuses what no engine searches: kings missing or capturable, pawns where none can stand, material that promotion
 * cannot explain. Positions that no game leads to, like impossible checks, are played on.
 */
export function judgeSetup(setup: Setup): SetupJudgement {
  const { board, epSquare } = setup;
  // chessops does not ask whether the en passant square is empty.
  const epAsked = epSquare !== undefined && board.occupied.has(epSquare) ? undefined : epSquare;
  return Chess.fromSetup({ ...setup, epSquare: epAsked }).unwrap<SetupJudgement, SetupJudgement>(
    (chess) => {
      const problems = problemsOfMaterial(board);
      if (problems.length > 0) {
        return { kind: "problems", problems };
      }
      chess.epSquare = chess.toSetup().epSquare;
      const removed = epSquare !== undefined && chess.epSquare === undefined;
      return { kind: "chess", chess, notices: removed ? [noticeOfEnPassant(makeSquare(epSquare))] : [] };
    },
    (error) => {
      const capturable =
        error.message === IllegalSetup.OppositeCheck ? [problemOfCheck(board, setup.turn)] : [];
      return { kind: "problems", problems: [...problemsOfMaterial(board), ...capturable] };
    },
  );
}

const names = { white: "White", black: "Black" } as const;

function problemsOfMaterial(board: Board): string[] {
  const problems = COLORS.flatMap((color) => problemsOfSide(board, color));
  const pieces = board.occupied.size();
  if (pieces > 32) {
    problems.push(`There are ${pieces} pieces on the board; a game begins with 32.`);
  }
  return problems;
}

function problemsOfSide(board: Board, color: Color): string[] {
  const count = (role: Role) => board.pieces(color, role).size();
  const side = names[color];
  const problems: string[] = [];

  const kings = count("king");
  if (kings === 0) {
    problems.push(`${side} has no king.`);
  }
  if (kings > 1) {
    problems.push(`${side} has ${kings} kings; each side has exactly one.`);
  }

  const stranded = board.pieces(color, "pawn").intersect(SquareSet.backranks()).first();
  if (stranded !== undefined) {
    problems.push(`${side} has a pawn on ${makeSquare(stranded)}; pawns are never on rank 1 or 8.`);
  }

  const pawns = count("pawn");
  if (pawns > 8) {
    problems.push(`${side} has ${pawns} pawns; a side never has more than 8.`);
  }

  // By kind, as Stockfish counts: two bishops on one colour are searched, even beside eight pawns.
  const promoted =
    Math.max(count("queen") - 1, 0) +
    Math.max(count("rook") - 2, 0) +
    Math.max(count("bishop") - 2, 0) +
    Math.max(count("knight") - 2, 0);
  const missing = Math.max(8 - pawns, 0);
  if (promoted > missing) {
    problems.push(`${side} has more promoted pieces (${promoted}) than missing pawns (${missing}).`);
  }
  return problems;
}

function problemOfCheck(board: Board, turn: Color): string {
  const king = board.kingOf(turn);
  const other = board.kingOf(opposite(turn));
  if (king !== undefined && other !== undefined && kingAttacks(king).has(other)) {
    return `The kings on ${makeSquare(king)} and ${makeSquare(other)} are next to each other.`;
  }
  return `${names[opposite(turn)]} is in check although it is ${names[turn]}'s move: the king could be captured.`;
}

function noticeOfEnPassant(square: string): Notice {
  const message = `The en passant square ${square} was removed: no pawn can legally capture there.`;
  return { code: "ep_square_removed", message, field: "fen" };
}
