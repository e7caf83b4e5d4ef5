/** Returns the key of a position in the table of openings: the first four fields of the FEN, without the move counters. */
export function openingKey(fen: string): string {
  return fen.split(" ", 4).join(" ");
}
