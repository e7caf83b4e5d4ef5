import { readdir, realpath } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import type { EngineBuild, EngineSettings } from "../../engine.ts";
import { sealFiles } from "../../seal.ts";
import { wasmBuilds } from "./builds.ts";

const require = createRequire(import.meta.url);

/**
 * Most hash in MiB. With 2047 Stockfish 19 never says `readyok`, and with 4096, which is 0 in the 32 bits of its
 * addresses, it answers otherwise than with any other size (both seen 2026-11).
 */
const hashMaxMb = 1024;

/** The builds of the table whose npm package is installed. All of them have one thread. */
export async function discoverWasm({ hashMb }: EngineSettings): Promise<readonly EngineBuild[]> {
  const settings = { hashMb: Math.min(hashMb, hashMaxMb), threads: 1 };
  const found = await Promise.all(
    wasmBuilds.map(async ({ package: name, loader, pin, ...build }): Promise<EngineBuild[]> => {
      try {
        // The cage refuses links, and npm may install by links.
        const file = await realpath(join(dirname(require.resolve(`${name}/package.json`)), loader));
        const modules = await modulesOf(file);
        return modules.length === 0
          ? []
          : [{ ...build, path: "wasm", settings, file, ...(await sealFiles(modules, [file], pin)) }];
      } catch {
        // Not installed: the operator chose so.
        return [];
      }
    }),
  );
  return found.flat();
}

/** The module of a loader; Stockfish 17.1 has cut its own into parts, `-part-0.wasm` and so on. */
async function modulesOf(loader: string): Promise<readonly string[]> {
  const folder = dirname(loader);
  const name = basename(loader, ".js");
  const files = await readdir(folder);
  const modules = files.filter(
    (file) => file === `${name}.wasm` || (file.startsWith(`${name}-part-`) && file.endsWith(".wasm")),
  );
  return modules.toSorted().map((file) => join(folder, file));
}
