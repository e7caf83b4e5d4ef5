import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { descriptorsFor } from "../../src/wiring/descriptors.ts";
import { tablesFolder } from "../support/tables.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";

test("with enough open files, there are 10,000 connections and no warning", () => {
  for (const limit of [undefined, 20_000]) {
    const { connectionsMax, perAddressMax, warning } = descriptorsFor({ slots: 2, syzygy: undefined }, limit);
    expect([connectionsMax, perAddressMax, warning]).toEqual([10_000, Number.POSITIVE_INFINITY, undefined]);
  }
});

test.each([
  [1024, 844, 211],
  [256, 76, 19],
  [64, 16, 4],
])(
  "with %i open files, %i connections are accepted, and %i of one address",
  (limit, connections, perAddress) => {
    const { connectionsMax, perAddressMax, warning } = descriptorsFor({ slots: 2, syzygy: undefined }, limit);
    expect([connectionsMax, perAddressMax]).toEqual([connections, perAddress]);
    expect(warning).toContain(`only ${limit} files, so at most ${connections} connections`);
    expect(warning).toContain("Raise the limit to 10180");
  },
);

test("the files of endgame tables, which stay open, reduce the connections", () => {
  const { connectionsMax } = descriptorsFor({ slots: 2, syzygy: ["/nowhere", tablesFolder] }, 1024);
  expect(connectionsMax).toBe(844 - 10);
});

const folder = useTemporaryFolder();

test("files that are never used as endgame tables do not reduce the connections", () => {
  // No table has the stronger side second: it is `KQvKR`.
  for (const name of ["other.rtbw", "KRvKQ.rtbw", "KQvK.rtbw.part", "KQvK.txt"]) {
    writeFileSync(join(folder, name), "");
  }
  const { connectionsMax } = descriptorsFor({ slots: 2, syzygy: [tablesFolder, folder, tablesFolder] }, 1024);
  expect(connectionsMax).toBe(844 - 10);
});
