import { describeRun, printedBy } from "../measured.ts";
import type { BenchEngine } from "./engine.ts";

export function describeMachine(
  args: readonly string[],
  engines: readonly BenchEngine[],
  python: string,
): string {
  const packages =
    "import importlib.metadata as m; print(*[f'{n} {m.version(n)}' for n in ('chess', 'fastapi', 'uvicorn')], sep=', ')";
  const command = ["npm run bench", ...(args.length > 0 ? ["--", ...args] : [])].join(" ");
  const named = engines.map(({ name, path, sha256 }) => `${name} (${path}, \`${sha256.slice(0, 12)}…\`)`);
  const tools = [
    /^wrk \S+/.exec(printedBy("wrk", "--version"))?.[0] ?? "",
    printedBy("h2load", "--version"),
    printedBy(python, "--version"),
    printedBy(python, "-c", packages),
  ].filter(Boolean);
  return `${describeRun(command)}; ${named.join(", ")}; ${tools.join(", ")}.`;
}
