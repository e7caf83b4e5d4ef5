import { createHash } from "node:crypto";
import { linkSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { discoverWasm } from "../../src/engine/backends/wasm/discover.ts";
import { digestOf, fingerprintFiles } from "../../src/engine/file-integrity.ts";
import { noSandbox } from "../../src/engine/sandbox/sandbox.ts";
import { createFolder } from "./write-script.ts";

const sha256 = (content: string | Buffer) => createHash("sha256").update(content).digest("hex");
const pin = { digested: sha256("module"), alongside: sha256("loader") };

/** Writes the WebAssembly module of an engine, and the script that loads the module. */
function writeEngine() {
  const folder = createFolder();
  const [module, loader] = [join(folder, "engine.wasm"), join(folder, "engine.js")];
  writeFileSync(module, "module");
  writeFileSync(loader, "loader");
  return { module, loader };
}

function replace(file: string, text: string): void {
  rmSync(file, { force: true });
  writeFileSync(file, text);
}

const replaced = { kind: "no_start", message: expect.stringContaining("replaced since this server") };

test.each([0, 1, 262_143, 262_144, 262_145, 1_000_000])(
  "the digest of %i bytes is SHA-256",
  async (bytes) => {
    const file = join(createFolder(), "engine");
    const content = Buffer.alloc(bytes, "kibitz");
    writeFileSync(file, content);
    expect(await digestOf([file])).toBe(sha256(content));
  },
);

test("the digest of two files is the digest of their joined content", async () => {
  const { module, loader } = writeEngine();
  expect(await digestOf([module, loader])).toBe(sha256("moduleloader"));
});

test("the digest of an engine is computed from its file at discovery", async () => {
  const { module, loader } = writeEngine();
  const integrity = await fingerprintFiles([module], [loader]);
  replace(module, "other!");
  expect(integrity.sha256).toBe(sha256("module"));
});

test("an engine with a missing file can be started after the file was restored", async () => {
  const { module } = writeEngine();
  const integrity = await fingerprintFiles([module]);
  await integrity.assertUnchanged();
  rmSync(module);
  await expect(integrity.assertUnchanged()).rejects.toMatchObject({
    kind: "no_start",
    message: expect.stringContaining("file is gone"),
  });
  replace(module, "module");
  await integrity.assertUnchanged();
});

test.each(["module", "loader"] as const)(
  "an engine with a replaced %s can be started only after the old content was restored",
  async (which) => {
    const files = writeEngine();
    const integrity = await fingerprintFiles([files.module], [files.loader]);
    replace(files[which], "other!");
    await expect(integrity.assertUnchanged()).rejects.toMatchObject(replaced);
    replace(files[which], which);
    await integrity.assertUnchanged();
  },
);

test("an engine with an overwritten file cannot be started, even with the old modification time", async () => {
  const { module } = writeEngine();
  utimesSync(module, 1000, 1000);
  const integrity = await fingerprintFiles([module]);
  writeFileSync(module, "mod**e");
  utimesSync(module, 1000, 1000);
  await expect(integrity.assertUnchanged()).rejects.toMatchObject(replaced);
});

test("an engine whose file has only a new modification time can be started", async () => {
  const { module, loader } = writeEngine();
  const integrity = await fingerprintFiles([module], [loader], pin);
  linkSync(module, `${module}.link`);
  await integrity.assertUnchanged();
  utimesSync(module, 1, 1);
  await integrity.assertUnchanged();
  renameSync(`${module}.link`, module);
  await integrity.assertUnchanged();
});

test("an engine is genuine if its files have the pinned digests or if no digests are pinned", async () => {
  const { module, loader } = writeEngine();
  await (await fingerprintFiles([module], [loader], pin)).assertGenuine();
  await (await fingerprintFiles([module], [loader])).assertGenuine();
});

test.each([
  ["module", "digested"],
  ["loader", "alongside"],
] as const)("an engine is not genuine if its %s differs from the pinned value", async (_, part) => {
  const { module, loader } = writeEngine();
  const integrity = await fingerprintFiles([module], [loader], { ...pin, [part]: sha256("else") });
  await expect(integrity.assertGenuine()).rejects.toMatchObject({
    kind: "no_start",
    message: expect.stringContaining("not the build that this version of Kibitz knows under that id"),
  });
});

test("every installed WebAssembly build has its known digest", async () => {
  const builds = await discoverWasm({ hashMb: 16, threads: 1 }, noSandbox);
  expect(builds.length).toBeGreaterThan(0);
  await Promise.all(builds.map((build) => build.assertGenuine()));
});
