/**
 * What `process.nextTick` takes after the heap was collected several times while nothing waited, with the shape of its objects
 * kept (`src/thread/tick-shape.ts`) and without, as a ratio to before the collections. In turns of processes.
 *
 *     node bench/ticks.ts [rounds]
 */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const rounds = Number(process.argv[2] ?? 3);
const keeper = fileURLToPath(new URL("../src/thread/tick-shape.ts", import.meta.url));

const program = `
const { setTimeout: sleep } = await import("node:timers/promises");
if (process.argv[1] === "kept") (await import(${JSON.stringify(keeper)})).keepTickShape();
const ticks = 2e6;
const nanoseconds = () => new Promise((resolve) => {
  const startedAt = process.hrtime.bigint();
  let left = ticks;
  const next = () => --left > 0 ? process.nextTick(next) : resolve(Number(process.hrtime.bigint() - startedAt) / ticks);
  process.nextTick(next);
});
await nanoseconds();
const before = await nanoseconds();
for (let collections = 0; collections < 6; collections++) {
  await sleep(5);
  gc();
  await nanoseconds();
}
console.log(JSON.stringify([before, await nanoseconds()]));
`;

for (let round = 0; round < rounds; round++) {
  for (const word of round % 2 === 0 ? ["kept", "forgotten"] : ["forgotten", "kept"]) {
    const flags = ["--expose-gc", "--no-maglev", "--input-type=module", "--eval", program, word];
    const [before = 0, after = 0] = JSON.parse(execFileSync(process.execPath, flags, { encoding: "utf8" }));
    console.log(
      `${word}: ${before.toFixed(0)} ns, then ${after.toFixed(0)} ns (× ${(after / before).toFixed(2)})`,
    );
  }
}
