import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkTables } from "../../../src/cli/doctor/tables.ts";
import { loadConfig } from "../../../src/wiring/config.ts";
import { tablesFolder } from "../../support/tables.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";

const folder = useTemporaryFolder();

async function findingsWith(folders: readonly string[]): Promise<readonly string[]> {
  const findings = await Array.fromAsync(checkTables(loadConfig({ KIBITZ_SYZYGY: folders.join(":") })));
  return findings.map(({ part, state, found }) => `${part}: ${state}: ${found}`);
}

test("kibitz doctor says that there are no endgame tables", async () => {
  expect(await findingsWith([])).toEqual(["tablebases: good: none, because KIBITZ_SYZYGY names no folder"]);
});

test("kibitz doctor says which endgame tables there are, and which folder cannot be read", async () => {
  const missing = join(folder, "nothing");
  expect(await findingsWith([missing, tablesFolder])).toEqual([
    "tablebases: good: 5 tables of up to 3 men",
    expect.stringContaining(`tablebases: note: ${missing} cannot be read: ENOENT`),
  ]);
  expect(await findingsWith([missing])).toContain("tablebases: note: no tables");
});

test("kibitz doctor says that tables of 6 and 7 men are used after a check of their structure alone", async () => {
  for (const suffix of [".rtbw", ".rtbz"]) {
    writeFileSync(join(folder, `KRPPvKR${suffix}`), Buffer.alloc(80));
  }
  expect(await findingsWith([folder])).toEqual([
    "tablebases: good: 1 table of up to 6 men",
    expect.stringContaining("structure alone"),
  ]);
});
