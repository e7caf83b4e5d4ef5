import { createHash } from "node:crypto";
import { linkSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { discoverWasm } from "../../src/engine/backends/wasm/discover.ts";
import { fingerprintFiles } from "../../src/engine/file-integrity.ts";
import { noSandbox } from "../../src/engine/sandbox/sandbox.ts";
import { createFolder } from "./write-script.ts";

/** A module and its loader, and what the seal says of them. */
async function sealed() {
  const folder = createFolder();
  const [module, loader] = [join(folder, "engine.wasm"), join(folder, "engine.js")];
  const write = (file: string, text: string) => {
    rmSync(file, { force: true });
    writeFileSync(file, text);
  };
  write(module, "module");
  write(loader, "loader");
  const seal = await fingerprintFiles([module], [loader]);
  const verdict = async () => {
    try {
      await seal.assertUnchanged();
      return "unchanged";
    } catch (error) {
      expect(error).toMatchObject({ kind: "no_start" });
      return String(error).includes("replaced") ? "replaced" : "gone";
    }
  };
  return { module, loader, write, seal, verdict };
}

test("untouched files are known without a wait", async () => {
  const { seal } = await sealed();
  expect(seal.assertUnchanged()).toBeUndefined();
});

test("files that are gone cannot be started, until they are back", async () => {
  const { module, write, seal, verdict } = await sealed();
  await seal.sha256();
  rmSync(module);
  expect(await verdict()).toBe("gone");
  write(module, "module");
  expect(await verdict()).toBe("unchanged");
  expect(seal.assertUnchanged()).toBeUndefined();
});

test.each(["module", "loader"] as const)("another %s is a replacement, whatever its name", async (which) => {
  const files = await sealed();
  await files.seal.sha256();
  files.write(files[which], "other!");
  expect(await files.verdict()).toBe("replaced");
  files.write(files[which], which);
  expect(await files.verdict()).toBe("unchanged");
});

test("files that only look changed are the same, if their content was read before", async () => {
  const { module, seal, verdict } = await sealed();
  utimesSync(module, 1, 1);
  expect(await verdict()).toBe("replaced");
  utimesSync(module, new Date(), new Date());
  const other = await sealed();
  await other.seal.sha256();
  utimesSync(other.module, 1, 1);
  expect(await other.verdict()).toBe("unchanged");
  await expect(seal.sha256()).rejects.toMatchObject({ kind: "no_start" });
});

/** Other bytes in the same file, with the size and the time of modification that it had. */
function forge(file: string, text: string): void {
  const { atime, mtime } = statSync(file);
  writeFileSync(file, text);
  utimesSync(file, atime, mtime);
}

test("a file whose owner has reset its time of modification is a replacement", async () => {
  const { module, seal, verdict } = await sealed();
  utimesSync(module, 1000, 1000);
  await expect(seal.sha256()).rejects.toMatchObject({ kind: "no_start" });
  const again = await fingerprintFiles([module]);
  await again.sha256();
  forge(module, "mod**e");
  await expect(again.assertUnchanged()).rejects.toMatchObject({ kind: "no_start" });
  expect(await verdict()).toBe("replaced");
});

test("a file that got another link, before its content was read, is the same if its digest is known", async () => {
  const { module, loader } = await sealed();
  const pin = { digested: sha256("module"), alongside: sha256("loader") };
  const seal = await fingerprintFiles([module], [loader], pin);
  linkSync(module, `${module}.link`);
  await seal.assertUnchanged();
  expect(seal.assertUnchanged()).toBeUndefined();
  forge(module, "mod**e");
  await expect(seal.assertUnchanged()).rejects.toMatchObject({ kind: "no_start" });
});

test("a file that gets one more link while it is read is still the same", async () => {
  const { module, loader } = await sealed();
  const content = "m".repeat(8_000_000);
  writeFileSync(module, content);
  const pin = { digested: sha256(content), alongside: sha256("loader") };
  const seal = await fingerprintFiles([module], [loader], pin);
  linkSync(module, `${module}.before`);
  const compared = seal.assertUnchanged();
  linkSync(module, `${module}.meanwhile`);
  await compared;
  expect(seal.assertUnchanged()).toBeUndefined();
});

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

test("files are genuine if their digest is the known one, or if none is known", async () => {
  const { module, loader, seal } = await sealed();
  await seal.assertGenuine();
  const pin = { digested: sha256("module"), alongside: sha256("loader") };
  await (await fingerprintFiles([module], [loader], pin)).assertGenuine();
});

test.each(["digested", "alongside"] as const)(
  "files are not genuine if %s is something else",
  async (part) => {
    const { module, loader } = await sealed();
    const pin = { digested: sha256("module"), alongside: sha256("loader"), [part]: sha256("else") };
    const seal = await fingerprintFiles([module], [loader], pin);
    await expect(seal.assertGenuine()).rejects.toMatchObject({
      kind: "no_start",
      message: expect.stringContaining("not the build that this version of Kibitz knows under that id"),
    });
  },
);

test("every installed WebAssembly build has its known digest", async () => {
  const builds = await discoverWasm({ hashMb: 16, threads: 1 }, noSandbox);
  expect(builds.length).toBeGreaterThan(0);
  await Promise.all(builds.map((build) => build.assertGenuine()));
});
