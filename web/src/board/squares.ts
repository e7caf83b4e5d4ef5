import { parseBoardFen } from "chessops/fen";
import { FILE_NAMES, type Piece, RANK_NAMES, type SquareName } from "chessops/types";
import { parseSquare } from "chessops/util";

export type Orientation = "white" | "black";

export function squaresSeen(orientation: Orientation): readonly (readonly SquareName[])[] {
  const ranks = orientation === "white" ? RANK_NAMES.toReversed() : RANK_NAMES;
  const files = orientation === "white" ? FILE_NAMES : FILE_NAMES.toReversed();
  return ranks.map((rank) => files.map((file): SquareName => `${file}${rank}`));
}

const steps: Readonly<Record<string, readonly [right: number, down: number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
  Home: [-7, 0],
  End: [7, 0],
  PageUp: [0, -7],
  PageDown: [0, 7],
};

/** Returns undefined for keys that do not move the cursor. The cursor stops at the edge of the board. */
export function squareByKey(key: string, from: SquareName, orientation: Orientation): SquareName | undefined {
  const step = steps[key];
  if (step === undefined) {
    return undefined;
  }
  const rows = squaresSeen(orientation);
  const row = rows.findIndex((squares) => squares.includes(from));
  const column = rows[row]?.indexOf(from) ?? 0;
  return rows[onBoard(row + step[1])]?.[onBoard(column + step[0])];
}

function onBoard(place: number): number {
  return Math.min(Math.max(place, 0), 7);
}

/** Returns no pieces if the first field of the FEN is invalid. */
export function piecesOf(fen: string): ReadonlyMap<SquareName, Piece> {
  const [board = ""] = fen.split(" ");
  return parseBoardFen(board).unwrap(
    (read) =>
      new Map(
        squaresSeen("white")
          .flat()
          .flatMap((name) => {
            const piece = read.get(parseSquare(name));
            return piece ? [[name, piece] as const] : [];
          }),
      ),
    () => new Map<SquareName, Piece>(),
  );
}

/** Returns the centre of a square, measured in squares from the top left corner of the board. */
export function middleOf(square: SquareName, orientation: Orientation): readonly [x: number, y: number] {
  const x = square.charCodeAt(0) - 97 + 0.5;
  const y = 8 - Number(square[1]) + 0.5;
  return orientation === "white" ? [x, y] : [8 - x, 8 - y];
}
