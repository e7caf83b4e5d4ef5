import { readPasted } from "./pasted-text.ts";

/** For parts that do not use `readPasted` yet. */
export function kindOfText(text: string): "fen" | "pgn" | "key" | undefined {
  const kind = readPasted(text)?.kind;
  return kind === "link" || kind === "foreign link" ? undefined : kind;
}
