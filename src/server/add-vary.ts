import type { NodeResponse } from "./node-message.ts";

/** Says that an answer depends on a header of its request, beside those that it is said to depend on already. */
export function addVary(res: NodeResponse, header: string): void {
  const told = res.getHeader("Vary");
  res.setHeader("Vary", told === undefined ? header : `${told}, ${header}`);
}
