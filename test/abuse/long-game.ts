import { Chess } from "chessops/chess";
import { makeSanAndPlay } from "chessops/san";
import type { NormalMove } from "chessops/types";

/** A game of 600 plies without repetitions is the longest game that Kibitz reads. Its positions need 3 MB of memory. */
const pliesMax = 600;

/** A pawn moves this often, so that the game is not drawn by the 75-move rule. */
const pawnMoveEvery = 140;

/** Returns the moves of a game in SAN that has no capture, no repetition and no end. The game is always the same. */
export function longGame(plies = pliesMax): readonly string[] {
  let seed = 7;
  const next = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((seed / 2 ** 31) * below);
  };
  const chess = Chess.default();
  const sans: string[] = [];
  while (sans.length < plies) {
    const moves = [...chess.allDests()].flatMap(([from, targets]) =>
      [...targets]
        .filter((to) => !chess.board.occupied.has(to) && to >= 8 && to < 56)
        .map((to) => ({ from, to })),
    );
    const isPawn = ({ from }: NormalMove) => chess.board.pawn.has(from);
    const pawnsFirst = sans.length % pawnMoveEvery === 0;
    const turned = next(moves.length);
    const move = [...moves.slice(turned), ...moves.slice(0, turned)]
      .toSorted((a, b) =>
        pawnsFirst ? Number(isPawn(b)) - Number(isPawn(a)) : Number(isPawn(a)) - Number(isPawn(b)),
      )
      .find((move) => isQuiet(chess, move));
    if (move === undefined) {
      throw new Error(`the game has no move after ${sans.length} plies`);
    }
    sans.push(makeSanAndPlay(chess, move));
  }
  return sans;
}

/** False for a check or a stalemate, because such a move could end the game. */
function isQuiet(chess: Chess, move: NormalMove): boolean {
  const after = chess.clone();
  after.play(move);
  return !after.isCheck() && after.hasDests();
}
