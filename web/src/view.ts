export const views = ["analysis", "review"] as const;

/** A view of the page: the analysis of a position or the review of a game. */
export type View = (typeof views)[number];

/** Returns the fragment of a view's address. A view may add parameters after its name. */
export function addressOfView(name: View): string {
  return `#${name}`;
}
