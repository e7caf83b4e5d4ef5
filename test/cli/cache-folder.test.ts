import { userInfo } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { cacheFolderOf } from "../../src/cli/cache-folder.ts";

test.each([
  ["linux", { HOME: "/home/anna" }, "/home/anna/.cache/kibitz"],
  ["linux", { HOME: "/home/anna", XDG_CACHE_HOME: "/var/cache/anna" }, "/var/cache/anna/kibitz"],
  ["linux", { HOME: "/home/anna", XDG_CACHE_HOME: "cache" }, "/home/anna/.cache/kibitz"],
  ["linux", {}, join(userInfo().homedir, ".cache/kibitz")],
  ["linux", { HOME: "" }, join(userInfo().homedir, ".cache/kibitz")],
  ["linux", { HOME: "anna" }, join(userInfo().homedir, ".cache/kibitz")],
  ["darwin", { HOME: "/Users/anna" }, "/Users/anna/Library/Caches/kibitz"],
  ["win32", { LOCALAPPDATA: "C:/Users/anna/AppData/Local" }, "C:/Users/anna/AppData/Local/kibitz/Cache"],
] as const)("on %s with the environment %j the cache folder is %s", (platform, env, expected) => {
  expect(cacheFolderOf({ env }, platform)).toBe(expected);
});
