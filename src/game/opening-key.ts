/** What of a normal FEN tells one position of the table of openings from another: all but the clocks. */
export function openingKey(fen: string): string {
  return fen.split(" ", 4).join(" ");
}
