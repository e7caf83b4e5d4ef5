import { execFileSync } from "node:child_process";
import { arch, availableParallelism, cpus, release, totalmem, type } from "node:os";
import type { BenchEngine } from "./engine.ts";

/** Where and of what a measurement is. */
export interface Machine {
  /** Day, as ISO 8601. */
  readonly at: string;
  /** What prints the figures. */
  readonly command: string;
  readonly commit: string;
  readonly processor: string;
  readonly cores: number;
  readonly memoryGib: number;
  readonly kernel: string;
  readonly node: string;
  readonly engines: readonly { readonly name: string; readonly path: string; readonly sha256: string }[];
  /** The tools that make the load, as they name themselves, and the packages of Python. */
  readonly tools: readonly string[];
}

export function describeMachine(
  args: readonly string[],
  engines: readonly BenchEngine[],
  python: string,
): Machine {
  const dirty = printedBy("git", "status", "--porcelain", "--", "src", "proto") === "" ? "" : " and changes";
  const packages =
    "import importlib.metadata as m; print(*[f'{n} {m.version(n)}' for n in ('chess', 'fastapi', 'uvicorn')], sep=', ')";
  return {
    at: new Date().toISOString().slice(0, 10),
    command: ["npm run bench", ...(args.length > 0 ? ["--", ...args] : [])].join(" "),
    commit: `${printedBy("git", "rev-parse", "--short", "HEAD")}${dirty}`,
    processor: cpus()[0]?.model.trim() ?? "unknown",
    cores: availableParallelism(),
    memoryGib: Math.round(totalmem() / 2 ** 30),
    kernel: `${type()} ${release()} ${arch()}`,
    node: process.version,
    engines: engines.map(({ name, path, sha256 }) => ({ name, path, sha256 })),
    tools: [
      /^wrk \S+/.exec(printedBy("wrk", "--version"))?.[0] ?? "",
      printedBy("h2load", "--version"),
      printedBy(python, "--version"),
      printedBy(python, "-c", packages),
    ].filter(Boolean),
  };
}

/** Empty where the program is not here. `wrk` calls it a failure to be asked for its version, and answers. */
function printedBy(file: string, ...args: readonly string[]): string {
  try {
    return execFileSync(file, args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch (error) {
    return error instanceof Error && "stdout" in error ? String(error.stdout).trim() : "";
  }
}
