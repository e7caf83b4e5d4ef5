import { test } from "vitest";
import { useTemporaryFolder } from "../support/temporary-folder.ts";
import { killWriters } from "./kill-writers.ts";

const folder = useTemporaryFolder();

/** More of them: `npm run test:slow`. */
const kills = 10;

test("a process that is killed while it writes leaves a database that opens, and every key that it showed valid", () =>
  killWriters(folder, kills));
