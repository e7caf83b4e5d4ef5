import { join } from "node:path";
import { expect, vi } from "vitest";
import type { Tablebase } from "../../src/tablebase/tablebase.ts";
import { positionOf } from "../chess/validated.ts";
import { patienceMs } from "./patience.ts";

/** The folder of the tables of three men. */
export const tablesFolder = join(import.meta.dirname, "../tablebase/tables");

/** The pawn can become each piece, so the look-up of the moves reads every table. */
const pawn = "8/P7/8/8/4k3/8/8/K7 w - - 0 1";

/** One for each table, because a folder may lack tables: a look-up ends at the first table that is missing. */
const positions = [..."PQRBN"].map((piece) => pawn.replace("P", piece));

/** Waits until all tables are verified. Until then, a call waits only 200 ms for a table. */
export async function verifyTables(tablebase: Tablebase): Promise<void> {
  await tablebase.probeMoves(positionOf(pawn));
}

/** Waits until a service has verified all tables that it has. */
export async function verifyTablesOf(url: string): Promise<void> {
  for (const fen of positions) {
    await vi.waitFor(async () => {
      const response = await fetch(`${url}/v1/tablebase?${new URLSearchParams({ fen })}`);
      await response.text();
      expect([200, 404]).toContain(response.status);
    }, patienceMs);
  }
}
