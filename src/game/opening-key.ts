/** A normal FEN without its clocks: the key of the table of openings. */
export function openingKey(fen: string): string {
  return fen.split(" ", 4).join(" ");
}
