import { readFile } from "node:fs/promises";
import { type Openings, openingsFrom } from "./find-opening.ts";

const file = new URL("../../gen/openings.json", import.meta.url);

/** Reads the table of openings. The file has 440 kB, and the table needs 1.4 MB of memory. */
export async function readOpenings(): Promise<Openings> {
  return openingsFrom(JSON.parse(await readFile(file, "utf8")));
}
