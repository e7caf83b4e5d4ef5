import type { MoveName } from "../../calls/rulebook.ts";

/** Most legal moves that an error lists. */
export const nearestMax = 20;

/**
 * The legal moves that are most similar to a written move: to the same square, by the same piece, from the same square. Equally similar
 * moves keep their order.
 */
export function nearestMoves(
  written: string,
  legal: readonly MoveName[],
  count = nearestMax,
): readonly MoveName[] {
  const squares = written.toLowerCase().match(/[a-h][1-8]/g) ?? [];
  const to = squares.at(-1);
  const from = squares.length > 1 ? squares[0] : undefined;
  const piece = /^[KQRBNO0]/.exec(written)?.[0].replace("0", "O") ?? written[0];
  const likeness = ({ san, uci }: MoveName) =>
    (uci.slice(2, 4) === to ? 4 : 0) +
    (from !== undefined && uci.startsWith(from) ? 4 : 0) +
    (san[0] === piece ? 3 : 0);
  return legal
    .map((move) => ({ move, likeness: likeness(move) }))
    .toSorted((one, other) => other.likeness - one.likeness)
    .slice(0, count)
    .map(({ move }) => move);
}

/** `Nf3 (g1f3)`. */
export function moveText({ san, uci }: MoveName): string {
  return `${san} (${uci})`;
}
