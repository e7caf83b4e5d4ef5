import { access, realpath } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { lazyDigestOf } from "../../digest.ts";
import type { EngineBuild, EngineSettings } from "../../engine.ts";
import { wasmBuilds } from "./builds.ts";

const require = createRequire(import.meta.url);

/** The builds of the table whose npm package is installed. All of them have one thread. */
export async function discoverWasm({ hashMb }: EngineSettings): Promise<readonly EngineBuild[]> {
  const settings = { hashMb, threads: 1 };
  const found = await Promise.all(
    wasmBuilds.map(async ({ package: name, loader, ...build }): Promise<EngineBuild[]> => {
      try {
        // The cage refuses links, and npm may install by links.
        const file = await realpath(join(dirname(require.resolve(`${name}/package.json`)), loader));
        const module = file.replace(/\.js$/, ".wasm");
        await access(module);
        return [{ ...build, path: "wasm", settings, file, sha256: lazyDigestOf(module) }];
      } catch {
        // Not installed: the operator chose so.
        return [];
      }
    }),
  );
  return found.flat();
}
