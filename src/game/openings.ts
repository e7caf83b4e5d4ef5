import { readFile } from "node:fs/promises";
import { type Openings, openingsFrom } from "./find-opening.ts";

/** The table of openings, which `tools/openings.ts` makes. */
const file = new URL("../../gen/openings.json", import.meta.url);

/** Reads the table of openings: a file of 440 kB, which takes some milliseconds to read and 1.4 MB of memory. */
export async function readOpenings(): Promise<Openings> {
  return openingsFrom(JSON.parse(await readFile(file, "utf8")));
}
