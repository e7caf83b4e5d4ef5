import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { compileCacheOf } from "./support/compile-cache-of.ts";
import { useTemporaryFolder } from "./support/temporary-folder.ts";

const folder = useTemporaryFolder();

/** Returns the built-in Node modules that `kibitz --version` loads. */
function builtInsOfStart(): string {
  const printModules = `
    import { writeSync } from "node:fs";
    process.on("exit", () => writeSync(3, process.moduleLoadList.join("\\n")));
  `;
  const { output } = spawnSync(
    process.execPath,
    ["--import", `data:text/javascript,${encodeURIComponent(printModules)}`, "bin/kibitz.js", "--version"],
    {
      cwd: new URL("..", import.meta.url),
      encoding: "utf8",
      env: { PATH: process.env.PATH },
      stdio: ["ignore", "pipe", "pipe", "pipe"],
    },
  );
  return output[3] ?? "";
}

test("a start with a compile cache does not load the type stripper of Node", () => {
  builtInsOfStart();
  const loaded = builtInsOfStart();
  expect(loaded).toContain("NativeModule fs");
  expect(loaded).not.toContain("amaro");
});

test("only the owner can read the new folder of the compile cache", () => {
  const own = join(folder, "own");
  expect(compileCacheOf(own)).toContain(own);
  expect(statSync(own).mode & 0o777).toBe(0o700);
});

test.each([0o777, 0o770])("no code is cached in a folder that other users can write to: mode %o", (mode) => {
  const open = join(folder, `open-${mode}`);
  mkdirSync(open);
  chmodSync(open, mode);
  expect(compileCacheOf(open)).toBe("nowhere");
});
