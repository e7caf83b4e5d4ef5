import { execFileSync } from "node:child_process";
import { arch, availableParallelism, cpus, release, totalmem, type } from "node:os";
import type { BenchEngine } from "./engine.ts";

/** Day, command, commit, machine, engines and tools of a measurement, as one paragraph. */
export function describeMachine(
  args: readonly string[],
  engines: readonly BenchEngine[],
  python: string,
): string {
  const dirty = printedBy("git", "status", "--porcelain", "--", "src", "proto") === "" ? "" : " and changes";
  const packages =
    "import importlib.metadata as m; print(*[f'{n} {m.version(n)}' for n in ('chess', 'fastapi', 'uvicorn')], sep=', ')";
  const day = new Date().toISOString().slice(0, 10);
  const command = ["npm run bench", ...(args.length > 0 ? ["--", ...args] : [])].join(" ");
  const commit = `${printedBy("git", "rev-parse", "--short", "HEAD")}${dirty}`;
  const processor = `${cpus()[0]?.model.trim() ?? "unknown processor"}, ${availableParallelism()} cores`;
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  const system = `${type()} ${release()} ${arch()}, Node ${process.version}`;
  const named = engines.map(({ name, path, sha256 }) => `${name} (${path}, \`${sha256.slice(0, 12)}…\`)`);
  const tools = [
    /^wrk \S+/.exec(printedBy("wrk", "--version"))?.[0] ?? "",
    printedBy("h2load", "--version"),
    printedBy(python, "--version"),
    printedBy(python, "-c", packages),
  ].filter(Boolean);
  return `${day}, commit ${commit}, \`${command}\`. ${processor}, ${memory}, ${system}; ${named.join(", ")}; ${tools.join(", ")}.`;
}

/** The output; empty if the program is not here. `wrk --version` answers, but exits with an error. */
function printedBy(file: string, ...args: readonly string[]): string {
  try {
    return execFileSync(file, args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch (error) {
    return error instanceof Error && "stdout" in error ? String(error.stdout).trim() : "";
  }
}
