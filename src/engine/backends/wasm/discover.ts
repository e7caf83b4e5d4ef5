import { readdir, realpath } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import type { EngineBuild, EngineSettings } from "../../engine.ts";
import { fingerprintFiles } from "../../file-integrity.ts";
import { profileOf } from "../../profiles.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { type WasmBuild, wasmBuilds } from "./builds.ts";

const require = createRequire(import.meta.url);

/** With a hash table of 2047 MiB, Stockfish 19 in WebAssembly never becomes ready. With 4096 MiB, the size overflows to 0. */
const hashMaxMb = 1024;

/** Finds the builds whose npm package is installed. Throws EngineUserUnusable if the engines' user cannot read the files. */
export async function discoverWasm(
  { hashMb }: EngineSettings,
  sandbox: Sandbox,
  rows: readonly WasmBuild[] = wasmBuilds,
): Promise<readonly EngineBuild[]> {
  const settings = { hashMb: Math.min(hashMb, hashMaxMb), threads: 1 };
  const found = await Promise.all(
    rows.map(async ({ package: name, loader, pin, deprecatedSince, ...build }): Promise<EngineBuild[]> => {
      const installed = await installedFiles(name, loader);
      if (installed === undefined) {
        return [];
      }
      const [file = "", ...modules] = await sandbox.ensureReadable(installed);
      const integrity = await fingerprintFiles(modules, [file], pin);
      const { defaultLimit } = profileOf(build.family);
      return [
        {
          ...build,
          ...{ path: "wasm", deprecatedSince, settings, reproducible: true, defaultLimit, file },
          ...{ launch: undefined, unavailableReason: undefined },
          ...integrity,
        },
      ];
    }),
  );
  return found.flat();
}

/** Returns the loader, followed by its WebAssembly modules. Returns undefined if the package is not installed. */
export async function installedFiles(name: string, loader: string): Promise<readonly string[] | undefined> {
  try {
    // Resolve symbolic links: npm may install packages as links, which Node's permission model rejects.
    const file = await realpath(join(dirname(require.resolve(`${name}/package.json`)), loader));
    const modules = await modulesOf(file);
    return modules.length === 0 ? undefined : [file, ...modules];
  } catch {
    return undefined;
  }
}

/** The module of Stockfish 17.1 consists of several files: `-part-0.wasm`, `-part-1.wasm` and so on. */
async function modulesOf(loader: string): Promise<readonly string[]> {
  const folder = dirname(loader);
  const name = basename(loader, ".js");
  const files = await readdir(folder);
  const modules = files.filter(
    (file) => file === `${name}.wasm` || (file.startsWith(`${name}-part-`) && file.endsWith(".wasm")),
  );
  return modules.toSorted().map((file) => join(folder, file));
}
