/** A longer text is not compared with names, because the comparison would be slow. */
const guessMaxCharacters = 32;

/** Returns the most similar name with at most two typing errors. Ignores case and separators. */
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

/** Returns the end of an error message: "did you mean …?", or `otherwise` if no name is similar. */
export function didYouMean(
  written: string,
  names: readonly string[],
  otherwise: string,
  show = (name: string) => `\`${name}\``,
): string {
  const meant = nearestName(written, names);
  return meant === undefined ? otherwise : `did you mean ${show(meant)}?`;
}

function withoutCase(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, "");
}

/** The Damerau-Levenshtein distance (optimal string alignment), in which a swap of two letters is one step. */
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
