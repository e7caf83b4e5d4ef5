import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { copyOnce } from "../../src/engine/sandbox/copies.ts";
import { linksFor } from "../../src/engine/sandbox/links.ts";
import { createSandbox } from "../../src/engine/sandbox/sandbox.ts";
import { createFolder } from "./write-script.ts";

/** Writes two engine files that only the owner can read. */
function writeEngine(): readonly string[] {
  const folder = createFolder();
  const files = ["engine.js", "engine.wasm"].map((name) => join(folder, name));
  for (const file of files) {
    writeFileSync(file, basename(file), { mode: 0o600 });
  }
  chmodSync(folder, 0o700);
  return files;
}

const modeOf = (path: string) => statSync(path).mode & 0o777;

test("the copied files of an engine are in a folder that only the user of the server can write to", async () => {
  const cache = join(createFolder(), "cache", "kibitz");
  const copies = await copyOnce(writeEngine(), cache);
  const folder = dirname(copies[0] ?? "");
  expect(copies).toEqual([join(folder, "engine.js"), join(folder, "engine.wasm")]);
  expect(copies.map((copy) => readFileSync(copy, "utf8"))).toEqual(["engine.js", "engine.wasm"]);
  expect([cache, folder, ...copies].map(modeOf)).toEqual([0o755, 0o755, 0o555, 0o555]);
});

test("engine files are copied only once, even if several servers start", async () => {
  const cache = join(createFolder(), "kibitz");
  const files = writeEngine();
  const all = await Promise.all(Array.from({ length: 5 }, () => copyOnce(files, cache)));
  const { ino } = statSync(all[0]?.[0] ?? "");
  const later = await copyOnce(files, cache);
  expect([...all, later]).toEqual(Array.from({ length: 6 }, () => later));
  expect(statSync(later[0] ?? "").ino).toBe(ino);
  expect(readdirSync(cache)).toEqual([basename(dirname(later[0] ?? ""))]);
});

test("engine files with new content are copied into another folder", async () => {
  const cache = join(createFolder(), "kibitz");
  const files = writeEngine();
  const first = await copyOnce(files, cache);
  writeFileSync(files[0] ?? "", "newer");
  const second = await copyOnce(files, cache);
  expect(dirname(second[0] ?? "")).not.toBe(dirname(first[0] ?? ""));
  expect(readFileSync(second[0] ?? "", "utf8")).toBe("newer");
});

test("a copied file with a wrong digest is not used, and the error names the file to delete", async () => {
  const cache = join(createFolder(), "kibitz");
  const files = writeEngine();
  const [copy = ""] = await copyOnce(files, cache);
  chmodSync(copy, 0o755);
  writeFileSync(copy, "damaged");
  await expect(copyOnce(files, cache)).rejects.toThrow(
    `${dirname(copy)} does not match the digest in its name; delete it`,
  );
});

test("files that were renamed are copied again, because their content is found by name", async () => {
  const cache = join(createFolder(), "kibitz");
  const folder = createFolder();
  const [engine, network, renamed] = ["engine", "a.pb", "b.pb"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(engine, "engine");
  writeFileSync(network, "weights");
  await copyOnce([engine, network], cache);
  renameSync(network, renamed);
  const [, copy = ""] = await copyOnce([engine, renamed], cache);
  expect(basename(copy)).toBe("b.pb");
  expect(readFileSync(copy, "utf8")).toBe("weights");
});

test.each<[what: string, create: (cache: string) => void]>([
  ["every user can write to", (cache) => [mkdirSync(cache), chmodSync(cache, 0o777)]],
  ["is a link", (cache) => symlinkSync(createFolder(), cache)],
  ["is a file", (cache) => writeFileSync(cache, "")],
])("engine files are not copied into a cache folder that %s", async (_, create) => {
  const cache = join(createFolder(), "kibitz");
  create(cache);
  await expect(copyOnce(writeEngine(), cache)).rejects.toThrow();
});

test("the container image contains every program that the sandbox runs", () => {
  const dockerfile = readFileSync(join(import.meta.dirname, "../../deploy/Dockerfile"), "utf8");
  const programs = /make-root\.sh \/image (.*?) \\/.exec(dockerfile)?.[1]?.split(" ") ?? [];
  const links = linksFor(undefined, "/data").map(({ command }) => command(1)[0]);
  expect(links).toHaveLength(5);
  expect(programs).toEqual(expect.arrayContaining([...links, "sh", "mount"]));
});

test("an engine in the sandbox gets exactly its environment, whatever its PATH is", async () => {
  const { wrap } = await createSandbox({ userName: undefined, hide: "/nowhere", cache: createFolder() });
  const tell = ["-c", 'echo "$A|$PATH|$HOME|$1"', "sh", "x y"];
  for (const PATH of ["", "/nowhere"]) {
    const {
      file,
      args,
      env = {},
    } = wrap({ file: "/bin/sh", args: tell, env: { A: "b = c", PATH } }, { hashMb: 16, threads: 1 });
    expect(execFileSync(file, args, { env, encoding: "utf8" })).toBe(`b = c|${PATH}||x y\n`);
  }
});
