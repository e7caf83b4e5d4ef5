import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createFolder } from "../../engine/write-script.ts";
import { runKibitz } from "../run-kibitz.ts";

/** Has an engine, and other things that somebody has put beside the engine. */
function createInstalled() {
  const dataHome = createFolder();
  const folder = join(dataHome, "kibitz", "engines");
  mkdirSync(join(folder, "folder"), { recursive: true });
  writeFileSync(join(folder, "stockfish-99"), "engine");
  symlinkSync("nowhere", join(folder, "dangling-1"));
  execFileSync("mkfifo", [join(folder, "pipe-1")]);
  return { folder, env: { XDG_DATA_HOME: dataHome } };
}

const sha256 = createHash("sha256").update("engine").digest("hex");

test("kibitz engines list shows every engine, and says which file cannot be read", async () => {
  const { folder, env } = createInstalled();
  const { code, stdout, stderr } = await runKibitz(["engines", "list"], env);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const rows = stdout.split("\n").filter((line) => line.includes(folder));
  expect(rows.map((row) => row.split(/ {2,}/))).toEqual([
    ["dangling-1", "1", join(folder, "dangling-1"), "cannot be read"],
    ["pipe-1", "1", join(folder, "pipe-1"), "cannot be read"],
    ["stockfish-99", "99", join(folder, "stockfish-99"), sha256],
  ]);
  const json = await runKibitz(["engines", "list", "--json"], env);
  expect(json.stdout).toContain(`"id":"pipe-1","version":"1","path":"${join(folder, "pipe-1")}"}\n`);
});

test("kibitz engines remove deletes only the engine with this id", async () => {
  const { folder, env } = createInstalled();
  const { code, stdout } = await runKibitz(["engines", "remove", "stockfish-99"], env);
  expect({ code, stdout }).toEqual({ code: 0, stdout: `deleted ${join(folder, "stockfish-99")}\n` });
  expect(readdirSync(folder)).toEqual(["dangling-1", "folder", "pipe-1"]);
});

test.each(["stockfish-99", "folder", "../engines/pipe-1", ".", ""])(
  "kibitz engines remove %j exits with 2 if this is not the id of an installed engine",
  async (id) => {
    const { folder, env } = createInstalled();
    await runKibitz(["engines", "remove", "stockfish-99"], env);
    const { code, stderr } = await runKibitz(["engines", "remove", id], env);
    expect(code).toBe(2);
    expect(stderr).toMatch(/is not installed; installed: dangling-1, pipe-1/);
    expect(readdirSync(folder)).toEqual(["dangling-1", "folder", "pipe-1"]);
  },
);
