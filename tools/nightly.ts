/**
 * Everything that takes long and guards what changes rarely, one step after another, with one file for the results.
 *
 *     npm run test:nightly                 all steps; goes on after a failed one; exits with 1 if one failed or, in CI, was not run
 *     npm run test:nightly -- fuzz image   these only
 *     npm run test:nightly -- --summary    shows the results of all steps and runs nothing
 *
 * Results are in `nightly.json`, the output of each step in `nightly/<step>.log`, and each of its tests in `nightly/<step>.jsonl`. A step
 * that is not run this time keeps its result, which is stale after a week, or if it is of another commit.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { TestResult } from "../test/support/lane.ts";

interface Step {
  /** For the shell, in the root of the checkout. */
  readonly command: string;
  /** The promise that it guards, in a few words. */
  readonly guards: string;
  /** Programs without which it is not run. */
  readonly programs?: readonly string[];
  readonly asRoot?: true;
}

const steps: Readonly<Record<string, Step>> = {
  tests: {
    command:
      'vitest run --config vitest.nightly.config.ts; code=$?; node tools/check-promises.ts --nightly "$TEST_RESULTS" || code=1; exit $code',
    guards:
      "all *.nightly.test.ts: kills, isolation, movetime, overload, memory, the rehearsal of alerts, balancers, the match",
  },
  fuzz: {
    command: "FUZZ_MINUTES=10 vitest run --config vitest.fuzz.config.ts",
    guards: "no input breaks a parser, a codec or the service",
    programs: ["python3"],
  },
  referee: {
    command: "FUZZ_FENS=200000 npm run test:referee",
    guards: "positions are valid exactly if python-chess or the written policy says so",
    programs: ["python3"],
  },
  positions: {
    command: "FUZZ_POSITIONS=2000 npm run test:positions",
    guards: "every move and mate of an answer is right, by python-chess",
    programs: ["python3"],
  },
  openapi: {
    command: "npm run test:openapi -- --max-examples 500",
    guards: "the service answers as its OpenAPI document says",
    programs: ["python3"],
  },
  soak: {
    command: "npm run soak -- 10",
    guards: "ten minutes at 80 % load: below 200 MB, no wrong answer",
  },
  image: {
    command: "npm run image",
    guards: "the image is reproducible, starts and answers",
    programs: ["podman", "runc", "mmdebstrap"],
    asRoot: true,
  },
  // Last: it installs an engine that no other step expects, and takes it away again.
  older: {
    command: "npm run test:older; code=$?; npm prune --no-save >/dev/null || code=1; exit $code",
    guards: "an older engine version beside the newest",
  },
};

interface Result {
  readonly command: string;
  /** With "and changes" if files of the checkout were not committed. */
  readonly commit: string;
  readonly startedAt: string;
  readonly seconds: number;
  readonly result: "passed" | "failed" | "not run";
  /** Why it failed or was not run. */
  readonly reason?: string;
  /** Number of tests by state, if the step has tests. */
  readonly tests?: Readonly<Partial<Record<TestResult["state"], number>>>;
  readonly failed?: readonly string[];
  readonly log?: string;
}

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = join(root, "nightly");
const file = join(root, "nightly.json");
/** No step takes half of it. */
const stepMaxMs = 3 * 3_600_000;
const staleAfterDays = 7;

const args = process.argv.slice(2);
const unknown = args.filter((arg) => arg !== "--summary" && !Object.hasOwn(steps, arg));
if (unknown.length > 0) {
  console.error(`no step is called ${unknown.join(", ")}: ${Object.keys(steps).join(", ")}`);
  process.exit(2);
}
const results: Record<string, Result> = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
let stopping = false;

if (!args.includes("--summary")) {
  const wanted = args.length > 0 ? args : Object.keys(steps);
  mkdirSync(folder, { recursive: true });
  for (const [name, step] of Object.entries(steps)) {
    if (wanted.includes(name) && !stopping) {
      results[name] = await run(name, step);
      keep(results);
    }
  }
  console.log(summary());
  const bad = ["failed", ...(process.env.CI ? ["not run"] : [])];
  process.exitCode = wanted.some((name) => bad.includes(results[name]?.result ?? "")) || stopping ? 1 : 0;
} else {
  console.log(summary());
}

async function run(name: string, { command, programs = [], asRoot }: Step): Promise<Result> {
  const begun = { command, commit: commitNow(), startedAt: new Date().toISOString() };
  const missing = programs.filter((program) => !isInstalled(program));
  const lacks = [
    ...(missing.length > 0 ? [`no ${missing.join(", ")}`] : []),
    ...(asRoot && process.getuid?.() !== 0 ? ["not root"] : []),
  ];
  if (lacks.length > 0) {
    console.log(`${name}: not run: ${lacks.join("; ")}`);
    return { ...begun, seconds: 0, result: "not run", reason: lacks.join("; ") };
  }
  const log = join("nightly", `${name}.log`);
  const tests = join(folder, `${name}.jsonl`);
  rmSync(tests, { force: true });
  console.log(`${begun.startedAt} ${name}: ${command} > ${log}`);
  const startedAt = performance.now();
  const output = openSync(join(root, log), "w");
  const child = spawn("bash", ["-c", command], {
    cwd: root,
    // A group of its own, so that all of it can be ended.
    detached: true,
    stdio: ["ignore", output, output],
    env: {
      ...process.env,
      PATH: `${join(root, "node_modules/.bin")}${delimiter}${process.env.PATH}`,
      NO_COLOR: "1",
      TEST_RESULTS: tests,
    },
  });
  let ended: string | undefined;
  const end = (reason: string) => {
    ended = reason;
    killGroup(child, "SIGTERM");
    setTimeout(() => killGroup(child, "SIGKILL"), 30_000).unref();
  };
  const onSignal = () => {
    stopping = true;
    end("interrupted");
  };
  process.once("SIGINT", onSignal).once("SIGTERM", onSignal);
  const timer = setTimeout(() => end(`not over after ${stepMaxMs / 3_600_000} hours`), stepMaxMs);
  const [code] = await once(child, "exit");
  clearTimeout(timer);
  process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  const counted = countTests(tests);
  const result: Result = { ...begun, seconds, ...outcome(code, ended, counted.tests), ...counted, log };
  console.log(`${new Date().toISOString()} ${name}: ${describe(result)}`);
  return result;
}

function outcome(
  code: number | null,
  ended: string | undefined,
  tests: Result["tests"],
): Pick<Result, "result" | "reason"> {
  if (ended !== undefined) {
    return { result: stopping ? "not run" : "failed", reason: ended };
  }
  if (code !== 0) {
    return { result: "failed", reason: `exit code ${code}` };
  }
  // Every test was skipped, so nothing was shown.
  return tests && !tests.passed
    ? { result: "not run", reason: "every test was skipped" }
    : { result: "passed" };
}

function killGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) {
    return;
  }
  try {
    process.kill(-pid, signal);
  } catch {
    // All of the group have ended.
  }
}

/** Empty if the step has no tests that report to a file. */
function countTests(path: string): Pick<Result, "tests" | "failed"> {
  if (!existsSync(path)) {
    return {};
  }
  const tests: Partial<Record<TestResult["state"], number>> = {};
  const failed: string[] = [];
  for (const line of readFileSync(path, "utf8").split("\n").filter(Boolean)) {
    const { file, name, state }: TestResult = JSON.parse(line);
    tests[state] = (tests[state] ?? 0) + 1;
    if (state === "failed") {
      failed.push(`${file} > ${name}`);
    }
  }
  return { tests, ...(failed.length > 0 && { failed }) };
}

/** A run that is ended at any moment leaves the old file or the new one. */
function keep(all: Readonly<Record<string, Result>>): void {
  writeFileSync(`${file}.new`, `${JSON.stringify(all, undefined, 2)}\n`);
  renameSync(`${file}.new`, file);
}

function summary(): string {
  const head = commitNow();
  const lines = Object.entries(steps).map(([name, { guards }]) => {
    const result = results[name];
    const told = result === undefined ? "stale: never run" : `${describe(result)}${staleness(result, head)}`;
    const failed = (result?.failed ?? []).map((test) => `\n    failed: ${test}`).join("");
    return `  ${name.padEnd(10)} ${told} (${guards})${failed}`;
  });
  return `\nNightly steps at ${head}:\n${lines.join("\n")}`;
}

function describe({ result, reason, seconds, tests, log }: Result): string {
  const counts = tests && Object.entries(tests).map(([state, count]) => `${count} ${state}`);
  return [
    reason === undefined ? result : `${result}: ${reason}`,
    ...(result === "not run" ? [] : [`${seconds} s`]),
    ...(counts ? [`tests: ${counts.join(", ")}`] : []),
    ...(result === "failed" && log ? [log] : []),
  ].join("; ");
}

function staleness({ commit, startedAt }: Result, head: string): string {
  const days = (Date.now() - Date.parse(startedAt)) / 86_400_000;
  const reasons = [
    ...(days > staleAfterDays ? [`${Math.floor(days)} days old`] : []),
    ...(commit !== head || head.includes(" ") ? [`of ${commit}`] : []),
  ];
  return reasons.length > 0 ? `; stale: ${reasons.join(", ")}` : "";
}

function commitNow(): string {
  const git = (...words: readonly string[]) => execFileSync("git", words, { cwd: root, encoding: "utf8" });
  const changes = git("status", "--porcelain") === "" ? "" : " and changes";
  return `${git("rev-parse", "--short=12", "HEAD").trim()}${changes}`;
}

function isInstalled(program: string): boolean {
  const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/games"];
  return folders.some((place) => existsSync(join(place, program)));
}
