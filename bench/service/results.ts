import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Machine } from "./machine.ts";
import type { Row } from "./rows.ts";

/** What `npm run bench` keeps: the medians and spreads of the pages are made from it. */
export interface RowResults {
  readonly machine: Machine;
  readonly rows: readonly Row[];
}

/** By the names of their files. */
export interface Results {
  readonly rows: RowResults;
}

export function keepResults<Name extends keyof Results>(
  folder: string,
  name: Name,
  results: Results[Name],
): void {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${name}.json`);
  writeFileSync(file, `${JSON.stringify(results, undefined, 1)}\n`);
  console.log(`\n${file}`);
}
