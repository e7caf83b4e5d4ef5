import { expect, test } from "vitest";
import { accessTimes } from "../../src/wiring/access.ts";
import { rowsWith } from "../support/needs.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";
import { folderIsUnreachable, noFileGrowsBeyond } from "./shortages.ts";
import { testFullDisk } from "./test-full-disk.ts";

const root = useTemporaryFolder();

for (const folder of rowsWith(["util-linux"], root)) {
  testFullDisk("no file may grow", folder, noFileGrowsBeyond("kibitz.db-wal"));
}

testFullDisk("the data folder is unreachable", useTemporaryFolder(), folderIsUnreachable);

test("the database is written every 3 s by default, which is the time in the runbook", () => {
  expect(accessTimes.flushMs).toBe(3000);
});
