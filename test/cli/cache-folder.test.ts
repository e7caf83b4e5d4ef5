import { existsSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { cacheFolderOf } from "../../src/cli/cache-folder.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";
import { runKibitz } from "./run-kibitz.ts";

const folder = useTemporaryFolder();

test.each([
  ["linux", { HOME: "/home/anna" }, "/home/anna/.cache/kibitz"],
  ["linux", { HOME: "/home/anna", XDG_CACHE_HOME: "/var/cache/anna" }, "/var/cache/anna/kibitz"],
  ["linux", { HOME: "/home/anna", XDG_CACHE_HOME: "cache" }, "/home/anna/.cache/kibitz"],
  ["linux", {}, join(homedir(), ".cache/kibitz")],
  ["darwin", { HOME: "/Users/anna" }, "/Users/anna/Library/Caches/kibitz"],
  ["win32", { LOCALAPPDATA: "C:/Users/anna/AppData/Local" }, "C:/Users/anna/AppData/Local/kibitz/Cache"],
] as const)("commands on %s with %j store answers in %s", (platform, env, expected) => {
  expect(cacheFolderOf({ env }, platform)).toBe(expected);
});

test("a review stores its answers in the user's cache, and makes nothing in the working directory", async () => {
  const file = join(folder, "game.pgn");
  writeFileSync(file, "1. e4 e5 *\n");
  const env = { KIBITZ_DATA_DIR: "", KIBITZ_STORE_MB: "16", XDG_CACHE_HOME: join(folder, "cache") };
  const data = resolve("data/answers.db");
  const existed = existsSync(data);
  const search = async () =>
    JSON.parse((await runKibitz(["review", file, "-d", "6", "--json"], env)).stdout).search;
  expect(await search()).toMatchObject({ cached: 0 });
  expect(existsSync(join(folder, "cache/kibitz/answers.db"))).toBe(true);
  expect(await search()).toMatchObject({ searched: 0 });
  expect(existsSync(data)).toBe(existed);
});
