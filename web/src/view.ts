export type View = "analysis" | "review" | "set-up";

export function addressOfView(name: View): string {
  return `#${name}`;
}
