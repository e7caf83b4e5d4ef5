import "./replace-modules.ts";
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import type { Scenario } from "./scenario.ts";
import type { Report } from "./world.ts";

/**
 * Runs simulations, and prints what was wrong, how often each kind of thing occurred, and how long it took.
 * Usage: node test/simulation/run.ts --seed 7          runs one seed, and prints what happened
 *        node test/simulation/run.ts --seed 7 --shrink leaves out what is not needed for the failure
 *        node test/simulation/run.ts --scenario file   runs a scenario that was written by --json
 *        node test/simulation/run.ts --seeds 1..50
 *        node test/simulation/run.ts --for 3600        runs new seeds for an hour
 */
const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    seeds: { type: "string" },
    for: { type: "string" },
    scenario: { type: "string" },
    shrink: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
  },
});

const { scenarioFrom } = await import("./scenario.ts");
const { runScenario } = await import("./world.ts");
const { shrink } = await import("./shrink.ts");
const { createTotals } = await import("./counts.ts");

function* scenarios(): Generator<Scenario> {
  if (values.scenario !== undefined) {
    yield JSON.parse(readFileSync(values.scenario, "utf8"));
    return;
  }
  if (values.for !== undefined) {
    const first = Math.trunc(process.hrtime()[0] % 1e6) * 1000 + (process.pid % 1000);
    const endsAt = process.hrtime()[0] + Number(values.for);
    for (let seed = first; process.hrtime()[0] < endsAt; seed++) {
      yield scenarioFrom(seed);
    }
    return;
  }
  const [from = 1, to = from] = (values.seed ?? values.seeds ?? "1..10").split("..").map(Number);
  for (let seed = from; seed <= to; seed++) {
    yield scenarioFrom(seed);
  }
}

/** Two violations with different numbers are alike. */
function kindOf({ violations: [first = ""] }: Report): string {
  return first.split("\n", 1)[0]?.replaceAll(/[\d.]+/g, "") ?? "";
}

async function smallest(scenario: Scenario, report: Report): Promise<Scenario> {
  const kind = kindOf(report);
  const endsAt = process.hrtime()[0] + 60;
  return shrink(
    scenario,
    async (candidate) => process.hrtime()[0] < endsAt && kindOf(await runScenario(candidate)) === kind,
  );
}

function print({ trace }: Report): void {
  console.log(trace.join("\n"));
}

const isOne = values.seed !== undefined || values.scenario !== undefined;
const totals = createTotals();
const before = process.cpuUsage();
for (const scenario of scenarios()) {
  const report = await runScenario(scenario);
  totals.add(report);
  if (report.violations.length === 0) {
    if (isOne) {
      print(report);
    }
    continue;
  }
  process.exitCode = 1;
  const small = isOne && !values.shrink ? scenario : await smallest(scenario, report);
  print(small === scenario ? report : await runScenario(small));
  if (values.json) {
    console.log(JSON.stringify(small));
  }
  console.log(`seed ${scenario.seed} fails: ${report.violations.join("\n    ")}`);
  console.log(`Repeat: node test/simulation/run.ts --seed ${scenario.seed} --shrink`);
}
const { user, system } = process.cpuUsage(before);
const text = totals.text((user + system) / 1e6);
console.error(text);
if (!isOne) {
  console.error(totals.table());
}
if (values.for !== undefined) {
  // The nightly run copies this line into docs/measured.md.
  console.log(`measured: ${text}`);
}
