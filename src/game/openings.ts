import { readFile } from "node:fs/promises";
import { type Openings, openingsFrom } from "./find-opening.ts";

/** `tools/openings.ts` makes the file. */
const file = new URL("../../gen/openings.json", import.meta.url);

/** Reads the table of 450 kB, which takes some milliseconds, and 1.4 MB of memory. */
export async function readOpenings(): Promise<Openings> {
  return openingsFrom(JSON.parse(await readFile(file, "utf8")));
}
