import { test } from "vitest";
import { killWriters } from "../../storage/kill-writers.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";

const folder = useTemporaryFolder();
const kills = 25;

test(
  "a process that is killed while it writes leaves a database that opens, and every key that it showed valid",
  () => killWriters(folder, kills),
  120_000,
);
