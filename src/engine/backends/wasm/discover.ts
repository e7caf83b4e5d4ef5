import { readdir, realpath } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import type { EngineSettings } from "../../engine.ts";
import { fingerprintFiles } from "../../file-integrity.ts";
import { profileOf } from "../../profiles.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { type WasmBuild, wasmBuilds } from "./builds.ts";
import { createFastBuild, type WasmEngine } from "./fast.ts";

const require = createRequire(import.meta.url);

/** With a hash table of 2047 MiB, Stockfish 19 in WebAssembly never becomes ready. With 4096 MiB, the size overflows to 0. */
const hashMaxMb = 1024;

export interface DiscoverOptions {
  /** False: use only builds that need no host. */
  readonly fast?: boolean;
  readonly rows?: readonly WasmBuild[];
}

/** Finds the builds whose npm package is installed. Throws EngineUserUnusable if the engines' user cannot read the files. */
export async function discoverWasm(
  { hashMb }: EngineSettings,
  sandbox: Sandbox,
  { fast = true, rows = wasmBuilds }: DiscoverOptions = {},
): Promise<readonly WasmEngine[]> {
  const settings = { hashMb: Math.min(hashMb, hashMaxMb), threads: 1 };
  const found = await Promise.all(
    rows.map(async ({ package: name, loader, pin, fast: faster, deprecatedSince, ...row }) => {
      const installed = await installedFiles(name, loader);
      if (installed === undefined) {
        return [];
      }
      const [file = "", ...modules] = await sandbox.ensureReadable(installed);
      const integrity = await fingerprintFiles(modules, [file], pin);
      const build: WasmEngine = {
        ...row,
        path: "wasm",
        deprecatedSince,
        settings,
        reproducible: true,
        defaultLimit: profileOf(row.family).defaultLimit,
        launch: undefined,
        unavailableReason: undefined,
        file,
        ...integrity,
      };
      if (faster === undefined) {
        return [build];
      }
      const files = fast ? await installedFiles(faster.package, faster.module) : undefined;
      if (files === undefined) {
        const slowerBecause = fast ? `${faster.package} is not installed` : "KIBITZ_WASM_BUILD is npm";
        return [{ ...build, slowerBecause }];
      }
      const [module = ""] = modules;
      return [await createFastBuild(build, module, faster, files, sandbox)];
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
