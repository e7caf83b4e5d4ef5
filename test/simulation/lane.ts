import "./replace-modules.ts";
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { recordResult } from "../support/test-result.ts";

/**
 * Runs `npm run lane -- simulation`: simulations with fixed seeds. Fails if an invariant does not hold, if a kind of fault occurs
 * too rarely, or if a seed does not write the same trace twice.
 */
const { scenarioFrom } = await import("./scenario.ts");
const { runScenario } = await import("./world.ts");
const { createTotals, tooRare } = await import("./counts.ts");

/** About 25 s of processor time. Only in the last simulation, an engine prints too much while it starts. */
const seeds = [...Array.from({ length: 60 }, (_, index) => index + 1), 99];
/** These seeds run once more, in another process: a node, and clusters. */
const repeated = [1, 2, 3];

function record(name: string, failures: readonly string[], ms: number): void {
  recordResult({
    file: "test/simulation/lane.ts",
    name,
    state: failures.length === 0 ? "passed" : "failed",
    ms: Math.round(ms),
  });
  console.log(`${failures.length === 0 ? "passed" : "FAILED"}: ${name}`);
  if (failures.length > 0) {
    console.log(failures.map((failure) => `    ${failure}`).join("\n"));
    process.exitCode = 1;
  }
}

const runFile = fileURLToPath(new URL("run.ts", import.meta.url));
const totals = createTotals();
const failed: number[] = [];
const traces = new Map<number, string>();
const before = process.cpuUsage();
const elapsedMs = () => {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
};
for (const seed of seeds) {
  const report = await runScenario(scenarioFrom(seed));
  totals.add(report);
  if (repeated.includes(seed)) {
    traces.set(seed, `${report.trace.join("\n")}\n`);
  }
  if (report.violations.length > 0) {
    failed.push(seed);
  }
}
console.log(totals.table());
console.log(totals.text(elapsedMs() / 1000));
for (const seed of failed.slice(0, 3)) {
  spawnSync(process.execPath, [runFile, "--seed", String(seed), "--shrink"], { stdio: "inherit" });
}
record(
  "the invariants hold in simulations with fixed seeds",
  failed.map((seed) => `node test/simulation/run.ts --seed ${seed} --shrink`),
  elapsedMs(),
);
record("each fault, code and stop reason occurs in the simulations", tooRare(totals.kinds), 0);
const differing = [...traces].filter(([seed, trace]) => {
  const { stdout } = spawnSync(process.execPath, [runFile, "--seed", String(seed)], { maxBuffer: 1e9 });
  return stdout.toString() !== trace;
});
record(
  "two simulations with the same seed write the same trace",
  differing.map(([seed]) => `seed ${seed} wrote another trace`),
  elapsedMs(),
);
