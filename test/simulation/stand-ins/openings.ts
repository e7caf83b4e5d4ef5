import { readFileSync } from "node:fs";
import { type Openings, openingsFrom } from "../../../src/game/find-opening.ts";
import { simulated } from "../current.ts";

const openings = openingsFrom(
  JSON.parse(readFileSync(new URL("../../../gen/openings.json", import.meta.url), "utf8")),
);

/** The real module waits for the file system. */
export async function readOpenings(): Promise<Openings> {
  await simulated().clock.time.turn();
  return openings;
}
