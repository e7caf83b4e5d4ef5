import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { testWith } from "./support/needs.ts";
import { useTemporaryFolder } from "./support/temporary-folder.ts";

const folder = useTemporaryFolder();

/** Where a process that asks for this folder keeps what it compiles. */
function keptIn(asked: string): string {
  const source = `
    import { getCompileCacheDir } from "node:module";
    import { keepCompiled } from "./bin/compile-cache.js";
    keepCompiled(${JSON.stringify(asked)});
    process.stdout.write(getCompileCacheDir() ?? "nowhere");
  `;
  const cwd = new URL("..", import.meta.url);
  return execFileSync(process.execPath, ["--input-type=module", "-e", source], { cwd, encoding: "utf8" });
}

/** The built-in modules of Node that `kibitz` has loaded by its end. */
function builtInsOfStart(): string {
  const tell = `
    import { writeSync } from "node:fs";
    process.on("exit", () => writeSync(3, process.moduleLoadList.join("\\n")));
  `;
  const { output } = spawnSync(
    process.execPath,
    ["--import", `data:text/javascript,${encodeURIComponent(tell)}`, "bin/kibitz.js", "--version"],
    {
      cwd: new URL("..", import.meta.url),
      encoding: "utf8",
      env: { PATH: process.env.PATH },
      stdio: ["ignore", "pipe", "pipe", "pipe"],
    },
  );
  return output[3] ?? "";
}

test("a start that finds what was compiled does not load what strips types", () => {
  builtInsOfStart();
  const loaded = builtInsOfStart();
  expect(loaded).toContain("NativeModule fs");
  expect(loaded).not.toContain("amaro");
});

test("what is compiled is kept in a folder that is made for its owner alone", () => {
  const own = join(folder, "own");
  expect(keptIn(own)).toContain(own);
  expect(statSync(own).mode & 0o777).toBe(0o700);
});

test.each([0o777, 0o770])("it is kept nowhere, if others can write there: mode %o", (mode) => {
  const open = join(folder, `open-${mode}`);
  mkdirSync(open);
  chmodSync(open, mode);
  expect(keptIn(open)).toBe("nowhere");
});

testWith("root")("nor in a folder of somebody else", () => {
  const foreign = join(folder, "foreign");
  mkdirSync(foreign, { mode: 0o700 });
  chownSync(foreign, 65_534, 65_534);
  expect(keptIn(foreign)).toBe("nowhere");
});
