import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Chess } from "chessops/chess";
import { parseFen } from "chessops/fen";
import fc from "fast-check";
import { expect, test } from "vitest";
import { DamagedTable } from "../../src/tablebase/damaged-table.ts";
import { headBytesMax, type Layout, readLayout, type TableKind } from "../../src/tablebase/layout.ts";
import { type Material, materialFromName } from "../../src/tablebase/material.ts";
import { lookUpDistance, lookUpResult } from "../../src/tablebase/table.ts";

const tables = ["KPvK.rtbw", "KPvK.rtbz", "KQvK.rtbw", "KQvK.rtbz", "KRvK.rtbz"] as const;

const positions = {
  P: ["8/8/8/8/4k3/8/4P3/4K3 b - - 0 1", "8/1P6/8/3k4/8/8/8/K7 w - - 0 1", "k7/8/8/7P/8/8/8/K7 w - - 0 1"],
  Q: ["8/8/8/8/8/2k5/8/K6Q w - - 0 1", "8/8/8/3k4/8/8/8/K6Q b - - 0 1"],
  R: ["8/8/8/3k4/8/8/8/K6R w - - 0 1", "8/8/8/3k4/8/8/8/K6R b - - 0 1"],
};

interface Change {
  readonly at: number;
  readonly bytes: readonly number[];
}

/** Most of what a table says is in its first bytes. */
const changes = fc.array(
  fc.record({
    at: fc.oneof({ weight: 3, arbitrary: fc.nat(160) }, fc.nat(3000)),
    bytes: fc.oneof(
      fc.array(fc.nat(255), { minLength: 1, maxLength: 4 }),
      fc.constantFrom([0, 0, 0, 0], [255, 255, 255, 255], [0, 0, 0, 128], [1, 0, 0, 0]),
    ),
  }),
  { minLength: 1, maxLength: 4 },
);

test("a table with any bytes is damaged or has values in their range, and no look-up lasts long", async () => {
  const outcomes = { refused: 0, damaged: 0, read: 0 };
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...tables), changes, async (name, edits) => {
      await lookUpAll(name, edits, outcomes);
    }),
    { numRuns: 3000 },
  );
  // Otherwise, the changes reach only the first check.
  expect(outcomes.damaged).toBeGreaterThan(20);
  expect(outcomes.read).toBeGreaterThan(200);
});

async function lookUpAll(
  name: (typeof tables)[number],
  edits: readonly Change[],
  outcomes: { refused: number; damaged: number; read: number },
): Promise<void> {
  const material = materialFromName(name.slice(0, -5)) as Material;
  const kind = name.endsWith("w") ? "wdl" : "dtz";
  const bytes = new Uint8Array(readFileSync(fileURLToPath(new URL(`tables/${name}`, import.meta.url))));
  for (const { at, bytes: changed } of edits) {
    bytes.set(changed.slice(0, Math.max(0, bytes.length - at)), Math.min(at, bytes.length));
  }
  const layout = layoutOf(material, kind, bytes);
  if (!layout) {
    outcomes.refused++;
    return;
  }
  for (const fen of positions[name[1] as keyof typeof positions]) {
    const chess = Chess.fromSetup(parseFen(fen).unwrap()).unwrap();
    let reads = 0;
    const table = {
      layout,
      isSymmetric: false,
      isSwapped: false,
      async read(offset: number, length: number) {
        reads++;
        expect(offset + length).toBeLessThanOrEqual(layout.bytes);
        const content = new Uint8Array(length);
        content.set(bytes.subarray(offset, offset + length));
        return content;
      },
      reject: (error: unknown) => error as Error,
    };
    try {
      const value = kind === "wdl" ? await lookUpResult(table, chess) : await lookUpDistance(table, chess, 2);
      expect(value ?? 0).toBeGreaterThanOrEqual(-2);
      expect(value ?? 0).toBeLessThanOrEqual(kind === "wdl" ? 2 : 2 * 65_535);
      outcomes.read++;
    } catch (error) {
      expect(error).toBeInstanceOf(DamagedTable);
      outcomes.damaged++;
    }
    expect(reads).toBeLessThan(5000);
  }
}

/** Reads the head as if the file had the size that the head says. */
function layoutOf(material: Material, kind: TableKind, bytes: Uint8Array): Layout | undefined {
  const read = (size: number) => readLayout(material, kind, bytes.subarray(0, headBytesMax), size);
  try {
    return read(bytes.length);
  } catch (error) {
    expect(error).toBeInstanceOf(DamagedTable);
    const [, said] = /not the (\d+) that/.exec((error as Error).message) ?? [];
    return said === undefined ? undefined : read(Number(said));
  }
}
