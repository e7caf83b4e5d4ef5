/**
 * Measures look-ups in Syzygy tables. Usage: `node bench/tablebase.ts [FOLDER]`; by default, the tables of three and four men, which
 * are downloaded. Positions are random. `cached` look-ups find all blocks in memory, `cold` ones in the page cache of the system. The
 * time in which the process waited for a core does not count.
 */
import { openFiles } from "../src/tablebase/files.ts";
import { materialFromName } from "../src/tablebase/material.ts";
import { lookUpResult } from "../src/tablebase/table.ts";
import { openTablebase } from "../src/tablebase/tablebase.ts";
import { createTimeSlicer } from "../src/thread/time-slices.ts";
import { syzygyTables } from "../test/support/python-chess/syzygy-tables.ts";
import { createRandom } from "../test/support/random.ts";
import { startStopwatch } from "../test/support/stopwatch.ts";
import { type BenchEnding, namesOfTables, randomEnding } from "./endings.ts";
import { quantile } from "./service/statistics.ts";

const folder = process.argv[2] ?? syzygyTables();
const names = namesOfTables(folder);
const random = createRandom(1);
const positions = Array.from({ length: 1000 }, () => randomEnding(random.pick(names), random));
/** Not counted, because V8 compiles the code meanwhile. */
const warmUps = 3;

async function measure(
  label: string,
  run: (sample: BenchEnding) => Promise<unknown>,
  rounds = 1,
): Promise<void> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    for (const sample of positions) {
      const elapsedMs = startStopwatch();
      await run(sample);
      times.push(elapsedMs() * 1000);
    }
  }
  const sorted = times.toSorted((a, b) => a - b);
  const [p50, p99] = [0.5, 0.99].map((share) => quantile(sorted, share).toFixed(0));
  console.log(`${label}: p50 ${p50} µs, p99 ${p99} µs`);
}

const files = await openFiles([folder]);
const lookUp = async ({ name, position }: BenchEnding) => {
  const { isSymmetric = false } = materialFromName(name) ?? {};
  return lookUpResult({ ...(await files.open(name, "wdl")), isSymmetric, isSwapped: false }, position.board);
};
await using tablebase = await openTablebase([folder]);
const probe = ({ position }: BenchEnding) => tablebase.probe(position);
const probeMoves = ({ position }: BenchEnding) => tablebase.probeMoves(position);
for (let round = 0; round < warmUps; round++) {
  for (const sample of positions) {
    await lookUp(sample);
    await probeMoves(sample);
  }
}
await measure("a result, cached", lookUp, 5);
await measure("a probe, cached", probe, 5);
await measure("a probe of all moves, cached", probeMoves);
await files[Symbol.asyncDispose]();
for (const label of ["a probe, cold", "a probe of all moves, cold"]) {
  await using cold = await openTablebase([folder]);
  // The heads of all tables are in memory, and a few blocks.
  for (const name of names) {
    await cold.probe(randomEnding(name, random).position);
  }
  await measure(label, ({ position }) =>
    label.includes("moves") ? cold.probeMoves(position) : cold.probe(position),
  );
}

const beginWork = createTimeSlicer();
const beats: number[] = [];
let elapsedMs = startStopwatch();
let isOver = false;
const beat = () => {
  beats.push(elapsedMs());
  elapsedMs = startStopwatch();
  if (!isOver) {
    setImmediate(beat);
  }
};
setImmediate(beat);
await Promise.all(
  positions.slice(0, 100).map(({ position }) => tablebase.probeMoves(position, { turn: beginWork() })),
);
isOver = true;
const sortedBeats = beats.toSorted((a, b) => a - b);
const held = [0.5, 0.99, 1].map((share) => quantile(sortedBeats, share).toFixed(1)).join(", ");
console.log(`100 probes of all moves at once held the thread for ${held} ms (p50, p99, worst)`);
