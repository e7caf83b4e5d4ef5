/** A view of the page: the analysis of a position, the review of a game, or the editor of positions. */
export type View = "analysis" | "review" | "set-up";

/** Returns the fragment of a view's address. A view may add parameters after its name. */
export function addressOfView(name: View): string {
  return `#${name}`;
}
