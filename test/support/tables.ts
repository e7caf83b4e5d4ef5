import { join } from "node:path";
import { expect, vi } from "vitest";
import type { Tablebase } from "../../src/tablebase/tablebase.ts";
import { positionOf } from "../chess/validated.ts";
import { patienceMs } from "./patience.ts";

/** The folder of the tables of three men. */
export const tablesFolder = join(import.meta.dirname, "../tablebase/tables");

/** The pawn can become each piece, so the look-up of the moves reads every table. */
const fen = "8/P7/8/8/4k3/8/8/K7 w - - 0 1";

/** Waits until all tables are verified. Until then, a call waits only 200 ms for a table. */
export async function verifyTables(tablebase: Tablebase): Promise<void> {
  await tablebase.probeMoves(positionOf(fen));
}

/** Waits until a service has verified all tables. */
export async function verifyTablesOf(url: string): Promise<void> {
  const query = new URLSearchParams({ fen });
  await vi.waitFor(async () => {
    const response = await fetch(`${url}/v1/tablebase?${query}`);
    await response.text();
    expect(response.status).not.toBe(503);
  }, patienceMs);
}
