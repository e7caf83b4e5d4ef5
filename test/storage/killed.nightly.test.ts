import { test } from "vitest";
import { useTemporaryFolder } from "../support/temporary-folder.ts";
import { killWriters } from "./kill-writers.ts";

const folder = useTemporaryFolder();
const kills = 25;

test("after 25 kills of writing processes, the key database opens, and no confirmed key or revocation is lost", () =>
  killWriters(folder, kills));
