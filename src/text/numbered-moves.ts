/** Adds move numbers: `24... Kb6 25. b4 Qxf4`. `fen` is the position before the first move. */
export function numbered(fen: string, sans: readonly string[]): string {
  const [, turn, , , , number] = fen.split(" ");
  const first = 2 * Number(number) + (turn === "b" ? 1 : 0);
  return sans
    .map((san, index) => {
      const played = first + index;
      const isBlack = played % 2 === 1;
      return isBlack && index > 0 ? san : `${Math.floor(played / 2)}.${isBlack ? ".." : ""} ${san}`;
    })
    .join(" ");
}
