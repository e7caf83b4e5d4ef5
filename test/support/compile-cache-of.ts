import { execFileSync } from "node:child_process";

/** Returns the path of the compile cache of a Node process that is started with this cache folder, or "nowhere". */
export function compileCacheOf(folder: string): string {
  const source = `
    import { getCompileCacheDir } from "node:module";
    import { keepCompiled } from "./bin/compile-cache.js";
    keepCompiled(${JSON.stringify(folder)});
    process.stdout.write(getCompileCacheDir() ?? "nowhere");
  `;
  const cwd = new URL("../..", import.meta.url);
  return execFileSync(process.execPath, ["--input-type=module", "-e", source], { cwd, encoding: "utf8" });
}
