import "./replace-modules.ts";
import { parseArgs } from "node:util";

const { scenarioFrom } = await import("./scenario.ts");
const { runScenario } = await import("./world.ts");

const { values } = parseArgs({
  options: { seed: { type: "string" }, seeds: { type: "string" }, for: { type: "string" } },
});

function* seeds(): Generator<number> {
  if (values.seed !== undefined) {
    yield Number(values.seed);
    return;
  }
  const [from = 1, to = 10] = (values.seeds ?? "1..10").split("..").map(Number);
  for (let seed = from; seed <= to; seed++) {
    yield seed;
  }
}

const counts = new Map<string, number>();
let calls = 0;
let virtualMs = 0;
let events = 0;
const before = process.cpuUsage();
for (const seed of seeds()) {
  const report = await runScenario(scenarioFrom(seed));
  calls += report.calls;
  virtualMs += report.virtualMs;
  events += report.events;
  for (const [kind, count] of report.counts.all) {
    counts.set(kind, (counts.get(kind) ?? 0) + count);
  }
  if (values.seed !== undefined) {
    console.log(report.trace.join("\n"));
  }
  if (report.violations.length > 0) {
    process.exitCode = 1;
    console.log(`seed ${seed}: ${report.violations.slice(0, 5).join("\n    ")}`);
  }
}
const { user, system } = process.cpuUsage(before);
const seconds = (user + system) / 1e6;
console.error(
  `${calls} calls, ${(virtualMs / 3_600_000).toFixed(2)} simulated hours, ${events} events in ${seconds.toFixed(1)} s of processor time: ${Math.round(calls / seconds)} calls per second`,
);
if (values.seed === undefined) {
  for (const [kind, count] of [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    console.error(`${String(count).padStart(7)} ${kind}`);
  }
}
