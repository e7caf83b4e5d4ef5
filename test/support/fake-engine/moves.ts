import { Chess, castlingSide, normalizeMove } from "chessops/chess";
import { makeFen, parseFen } from "chessops/fen";
import type { NormalMove } from "chessops/types";
import { makeUci, parseUci } from "chessops/util";

interface RatedMove {
  readonly uci: string;
  /** The score in UCI notation (`cp 20` or `mate 1`), from the point of view of the side to move. */
  readonly score: string;
  readonly reply: string | undefined;
}

const worth = { pawn: 100, knight: 300, bishop: 300, rook: 500, queen: 900, king: 0 } as const;

/** Plays the moves of a `position fen … moves …` command, and counts how often each position occurred. */
export function play(words: readonly string[]): { chess: Chess; seen: ReadonlyMap<string, number> } {
  const end = words.indexOf("moves");
  const fen = words.slice(2, end < 0 ? undefined : end).join(" ");
  const chess = Chess.fromSetup(parseFen(fen).unwrap()).unwrap();
  const seen = new Map<string, number>();
  const count = () => seen.set(keyOf(chess), (seen.get(keyOf(chess)) ?? 0) + 1);
  count();
  for (const uci of end < 0 ? [] : words.slice(end + 1)) {
    const move = parseUci(uci);
    if (move === undefined || !chess.isLegal(normalizeMove(chess, move))) {
      throw new Error(`illegal move ${uci}`);
    }
    chess.play(normalizeMove(chess, move));
    count();
  }
  return { chess, seen };
}

/** Searches one ply: rates each legal move by mate, repetition and material. Returns the best move first. */
export function rateMoves(
  chess: Chess,
  seen: ReadonlyMap<string, number>,
  chess960: boolean,
): readonly RatedMove[] {
  return legalMoves(chess)
    .map((move) => {
      const after = chess.clone();
      after.play(move);
      const [reply] = legalMoves(after).map((answer) => uciOf(after, answer, chess960));
      const drawn = after.isStalemate() || seen.get(keyOf(after)) === 2;
      const value = after.isCheckmate() ? Infinity : drawn ? 0 : balance(after, chess.turn);
      return { uci: uciOf(chess, move, chess960), value, reply };
    })
    .toSorted((a, b) => b.value - a.value || a.uci.localeCompare(b.uci))
    .map(({ uci, value, reply }) => ({
      uci,
      score: value === Infinity ? "mate 1" : `cp ${value}`,
      reply,
    }));
}

/** Returns the legal moves. A castling move goes from the king's square to the rook's square, as in the library chessops. */
function legalMoves(chess: Chess): NormalMove[] {
  return [...chess.allDests()].flatMap(([from, squares]) =>
    [...squares].flatMap((to): NormalMove[] => {
      const promotes = chess.board.pawn.has(from) && (to < 8 || to >= 56);
      const pieces = ["queen", "rook", "bishop", "knight"] as const;
      return promotes ? pieces.map((promotion) => ({ from, to, promotion })) : [{ from, to }];
    }),
  );
}

function uciOf(chess: Chess, move: NormalMove, chess960: boolean): string {
  const side = castlingSide(chess, move);
  if (side === undefined || chess960) {
    return makeUci(move);
  }
  return makeUci({ ...move, to: move.from + (side === "h" ? 2 : -2) });
}

function balance(chess: Chess, side: "white" | "black"): number {
  return [...chess.board].reduce(
    (sum, [, { role, color }]) => sum + (color === side ? worth[role] : -worth[role]),
    0,
  );
}

function keyOf(chess: Chess): string {
  return makeFen(chess.toSetup()).split(" ").slice(0, 4).join(" ");
}
