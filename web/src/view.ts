export type View = "analysis" | "review" | "set-up";

/** Returns the fragment without parameters. */
export function addressOfView(name: View): string {
  return `#${name}`;
}
