import { test } from "vitest";
import { useTemporaryFolder } from "../support/temporary-folder.ts";
import { killWriters } from "./kill-writers.ts";

const folder = useTemporaryFolder();
const kills = 25;

test("25 processes that are killed while they write leave a database that opens, and every key as it was shown: valid or revoked", () =>
  killWriters(folder, kills));
