import { execFileSync } from "node:child_process";

/** Starts Node with this cache folder, and returns the path of its compile cache, or "nowhere". */
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
