/** The limits of a `go` command. A limit that the command does not contain is infinite. */
export interface Go {
  readonly depth: number;
  readonly nodes: number;
  readonly movetimeMs: number;
  /** The moves after `searchmoves`. An empty list means all legal moves. */
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
