import { readFileSync } from "node:fs";
import type { Position } from "../src/chess/position.ts";
import { validatePosition } from "../src/chess/validate-position.ts";

const corpus = new URL("../test/corpus/fens.jsonl", import.meta.url);

export function benchPositions(count = 20): readonly Position[] {
  const lines = readFileSync(corpus, "utf8").trim().split("\n");
  return lines
    .map((line): { class: string; fen: string } => JSON.parse(line))
    .filter((line) => line.class === "tactic")
    .slice(0, count)
    .map(({ fen }) => {
      const validation = validatePosition({ fen, moves: [], chess960: false });
      if (validation.kind === "violations") {
        throw new Error(`bad position in the corpus: ${fen}`);
      }
      return validation.position;
    });
}
