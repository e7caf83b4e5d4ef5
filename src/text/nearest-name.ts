/** Longer names are no slip of the pen, and comparing them would take time. */
const guessMaxCharacters = 32;

/** The name that was meant by one that is not among them, if that can be guessed: one or two slips from it, however it is spelled. */
export function nearestName(written: string, names: readonly string[]): string | undefined {
  if (written.length > guessMaxCharacters) {
    return undefined;
  }
  const plain = withoutCase(written);
  const [best] = names
    .map((name) => ({ name, steps: editDistance(plain, withoutCase(name)) }))
    .filter(({ name, steps }) => steps <= Math.min(2, Math.floor(name.length / 3)))
    .sort((a, b) => a.steps - b.steps);
  return best?.name;
}

/**
 * How a complaint about an unknown name ends: with the one that was meant, if that can be guessed.
 *
 * @param otherwise what to say where it cannot be guessed
 * @param show how the guess is written where its reader would write it
 */
export function didYouMean(
  written: string,
  names: readonly string[],
  otherwise: string,
  show = (name: string) => `\`${name}\``,
): string {
  const meant = nearestName(written, names);
  return meant === undefined ? otherwise : `did you mean ${show(meant)}?`;
}

/** `movetimeMs`, `MoveTime-MS` and `movetime_ms` are one name to most people. */
function withoutCase(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, "");
}

/**
 * Damerau's, without edits inside a swap (optimal string alignment): how many characters to put in, take out or
 * change, or neighbours to swap.
 */
function editDistance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, column) => column)];
  const at = (row: number, column: number) => rows[row]?.[column] ?? 0;
  for (let row = 1; row <= a.length; row++) {
    const line = [row];
    rows.push(line);
    for (let column = 1; column <= b.length; column++) {
      const change = a[row - 1] === b[column - 1] ? 0 : 1;
      const swaps = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      line[column] = Math.min(
        at(row, column - 1) + 1,
        at(row - 1, column) + 1,
        at(row - 1, column - 1) + change,
        swaps ? at(row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY,
      );
    }
  }
  return at(a.length, b.length);
}
