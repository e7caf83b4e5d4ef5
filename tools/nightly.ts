/** `npx node tools/nightly.ts fuzz image` runs only these two steps. Each step that passes replaces its block of `docs/measured.md`. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, openSync, readFileSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describeRun, writeMeasured } from "../bench/measured.ts";
import type { TestResult } from "../test/support/test-result.ts";
import { type Step, steps } from "./nightly-steps.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = join(root, "nightly");
/** The maximum time of a step in milliseconds. A step normally needs less than half of this time. */
const stepMaxMs = 3 * 3_600_000;

const wanted = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(steps);
const unknown = wanted.filter((name) => !Object.hasOwn(steps, name));
if (unknown.length > 0) {
  console.error(`no step is called ${unknown.join(", ")}: ${Object.keys(steps).join(", ")}`);
  process.exit(2);
}
const interrupted = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => interrupted.abort(new Error("interrupted")));
}

mkdirSync(folder, { recursive: true });
const summary: string[] = [];
for (const name of Object.keys(steps).filter((each) => wanted.includes(each))) {
  const step = steps[name];
  if (step !== undefined && !interrupted.signal.aborted) {
    const result = lackOf(step) ?? (await run(name, step));
    console.log(`${new Date().toISOString()} ${name}: ${result}`);
    summary.push(`  ${name.padEnd(10)} ${result} (${step.guards})`);
    if (result.startsWith("passed")) {
      const run = `${describeRun(`npx node tools/nightly.ts ${name}`)}: ${result}.`;
      writeMeasured(`nightly ${name}`, [run, measuredBy(name).join("\n")].join("\n\n"));
    } else if (!result.startsWith("not run") || process.env.CI) {
      process.exitCode = 1;
    }
  }
}
if (interrupted.signal.aborted) {
  process.exitCode = 1;
}
const commit = execFileSync("git", ["describe", "--always", "--dirty"], { cwd: root, encoding: "utf8" });
console.log(`\nNightly steps at ${commit}${summary.join("\n")}`);

function lackOf({ programs = [], asRoot }: Step): string | undefined {
  const lacks = [
    ...programs.filter((program) => !isInstalled(program)).map((program) => `no ${program}`),
    ...(asRoot && process.getuid?.() !== 0 ? ["not root"] : []),
  ];
  return lacks.length > 0 ? `not run: ${lacks.join("; ")}` : undefined;
}

/** Returns the lines of the log that begin with `measured: `, as items of a Markdown list. */
function measuredBy(name: string): readonly string[] {
  const log = join(folder, `${name}.log`);
  const lines = existsSync(log) ? readFileSync(log, "utf8").split("\n") : [];
  return lines.filter((line) => line.startsWith("measured: ")).map((line) => `- ${line.slice(10)}`);
}

/** Returns a text that begins with `passed`, `failed` or `not run`. */
async function run(name: string, { command }: Step): Promise<string> {
  const log = join("nightly", `${name}.log`);
  const tests = join(folder, `${name}.jsonl`);
  rmSync(tests, { force: true });
  console.log(`${new Date().toISOString()} ${name}: ${command} > ${log}`);
  const startedAt = performance.now();
  const output = openSync(join(root, log), "w");
  const child = spawn("bash", ["-c", command], {
    cwd: root,
    // Start a process group, so that all processes of the step can be killed together.
    detached: true,
    stdio: ["ignore", output, output],
    env: {
      ...process.env,
      PATH: `${join(root, "node_modules/.bin")}${delimiter}${process.env.PATH}`,
      NO_COLOR: "1",
      TEST_RESULTS: tests,
    },
  });
  const ending = AbortSignal.any([interrupted.signal, AbortSignal.timeout(stepMaxMs)]);
  const end = () => {
    killGroup(child.pid, "SIGTERM");
    setTimeout(() => killGroup(child.pid, "SIGKILL"), 30_000).unref();
  };
  ending.addEventListener("abort", end);
  const [code] = await once(child, "exit");
  ending.removeEventListener("abort", end);
  const seconds = `${Math.round((performance.now() - startedAt) / 1000)} s`;
  const { counts, failed, noneRan } = countTests(tests);
  if (ending.aborted || code !== 0) {
    const reason = ending.aborted ? ending.reason.message : `exit code ${code}`;
    return [`failed: ${reason}`, seconds, ...counts, log, ...failed].join("; ");
  }
  return noneRan ? "not run: every test was skipped" : ["passed", seconds, ...counts].join("; ");
}

function killGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  try {
    process.kill(-(pid ?? Number.NaN), signal);
  } catch {
    // Ignore the error, because all processes of the group have exited.
  }
}

function countTests(path: string) {
  const lines = existsSync(path) ? readFileSync(path, "utf8").split("\n").filter(Boolean) : [];
  const results = lines.map((line): TestResult => JSON.parse(line));
  const byState = Map.groupBy(results, ({ state }) => state);
  return {
    counts: [...byState].map(([state, all]) => `${all.length} ${state}`),
    failed: (byState.get("failed") ?? []).map(({ file, name }) => `\n    failed: ${file} > ${name}`),
    noneRan: results.length > 0 && !byState.has("passed"),
  };
}

function isInstalled(program: string): boolean {
  const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/games"];
  return folders.some((place) => existsSync(join(place, program)));
}
