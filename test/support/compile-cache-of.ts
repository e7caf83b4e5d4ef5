import { execFileSync } from "node:child_process";

/** The compile cache of a process that asks for this folder: its path, or "nowhere". */
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
