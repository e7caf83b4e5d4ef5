import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { TargetName } from "./budget.ts";

export function corpusOf<T>(name: TargetName): readonly T[] {
  const folder = fileURLToPath(new URL(`corpus/${name}/`, import.meta.url));
  return globSync("*.jsonl", { cwd: folder })
    .toSorted()
    .flatMap((file) => readFileSync(`${folder}${file}`, "utf8").trim().split("\n"))
    .map((line) => JSON.parse(line) as T);
}

/** Returns the FENs of `test/corpus/fens.jsonl`. */
export function knownFens(): readonly string[] {
  const text = readFileSync(new URL("../corpus/fens.jsonl", import.meta.url), "utf8");
  return text
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as { fen: string }).fen);
}
