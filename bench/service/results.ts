import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Flat } from "./flat.ts";
import type { Sweep } from "./growth.ts";
import type { Machine } from "./machine.ts";
import type { Row } from "./rows.ts";

/** What `npm run bench` keeps: the medians and spreads of the pages are made from it. */
export interface RowResults {
  readonly machine: Machine;
  readonly rows: readonly Row[];
}

export interface FlatResults {
  readonly machine: Machine;
  readonly flats: readonly Flat[];
}

export interface GrowthResults {
  readonly machine: Machine;
  readonly slots: number;
  readonly sweeps: readonly Sweep[];
}

/** By the names of their files, without `.json`. */
export interface Results {
  readonly rows: RowResults;
  readonly flat: FlatResults;
  readonly growth: GrowthResults;
}

/** Written behind every finished cell, so that a run which dies leaves what it measured. */
export function keepResults<Name extends keyof Results>(
  folder: string,
  name: Name,
  results: Results[Name],
): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(results, undefined, 1)}\n`);
}

/** All that was kept in a folder. */
export function readResults(folder: string): Results {
  const read = (name: keyof Results) => JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8"));
  return { rows: read("rows"), flat: read("flat"), growth: read("growth") };
}
