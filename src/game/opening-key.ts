/** Returns the key of a position in the table of openings: its FEN in normal form, without the clocks. */
export function openingKey(fen: string): string {
  return fen.split(" ", 4).join(" ");
}
