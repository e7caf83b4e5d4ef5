/** The limits of a `go` command. Missing limits are infinite. */
export interface Go {
  readonly depth: number;
  readonly nodes: number;
  readonly movetimeMs: number;
  /** The moves to search; empty if all legal moves are searched. */
  readonly searchMoves: readonly string[];
}

export function goFrom(words: readonly string[]): Go {
  const numberAfter = (word: string) =>
    words.includes(word) ? Number(words[words.indexOf(word) + 1]) : Number.POSITIVE_INFINITY;
  const moves = words.indexOf("searchmoves");
  return {
    depth: numberAfter("depth"),
    nodes: numberAfter("nodes"),
    movetimeMs: numberAfter("movetime"),
    searchMoves: moves < 0 ? [] : words.slice(moves + 1),
  };
}
