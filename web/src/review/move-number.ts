/** Whose move a ply is, and how it is counted: `12.` for White's, `12…` for Black's. */
export function moveNumber(startFen: string, ply: number): string {
  const { number, isBlack } = countOf(startFen, ply);
  return `${number}${isBlack ? "…" : "."}`;
}

/** The full move that a ply belongs to, and whether it is Black's half of it; ply 1 is the first move of the game. */
export function countOf(
  startFen: string,
  ply: number,
): { readonly number: number; readonly isBlack: boolean } {
  const [, turn, , , , fullmoves] = startFen.split(" ");
  const half = (Number(fullmoves) - 1) * 2 + (turn === "b" ? 1 : 0) + ply - 1;
  return { number: Math.floor(half / 2) + 1, isBlack: half % 2 === 1 };
}

/** A row of a table of moves: the plies of one full move, where there are any. */
export interface MoveRow {
  readonly number: number;
  readonly white: number | undefined;
  readonly black: number | undefined;
}

/** The plies of a game by full moves, as they are written down. */
export function moveRows(startFen: string, plies: number): readonly MoveRow[] {
  const rows: { number: number; white: number | undefined; black: number | undefined }[] = [];
  for (let ply = 1; ply <= plies; ply++) {
    const { number, isBlack } = countOf(startFen, ply);
    const row = rows.at(-1);
    if (row?.number === number) {
      row.black = ply;
    } else {
      rows.push({ number, white: isBlack ? undefined : ply, black: isBlack ? ply : undefined });
    }
  }
  return rows;
}
