import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { post } from "../contract/protocols/post.ts";
import { enginesRunning } from "../engine/processes.ts";
import { rowsWith } from "../support/needs.ts";
import { startStopwatch, timesOf } from "../support/stopwatch.ts";
import { quick } from "./cases.ts";
import { languages } from "./languages/index.ts";
import { useServiceOfOneEngine, waysToLeave } from "./leaving.ts";
import { newCaller, openProbe, type Probe } from "./probe.ts";

const { app } = useServiceOfOneEngine();
const programs = languages.flatMap(({ needs, probes }) => rowsWith(needs, ...probes));

let probes: readonly Probe[] = [];
beforeAll(() => {
  probes = programs.map((program) => openProbe(program, app.url));
});
afterAll(async () => {
  await Promise.all(probes.map((probe) => probe.close()));
});

test("the engine is free within 500 ms after a deadline or a cancellation, with clients in all languages", async () => {
  const tries = probes.flatMap((probe) => waysToLeave.map((way) => ({ probe, ...way })));
  const times = await timesOf(tries.length, async (index) => {
    const { probe, command, code } = tries[index] ?? expect.fail();
    const left = await probe.ask({ ...command, metadata: newCaller() });
    expect(left.code).toBe(code);
    // The next search starts when the engine is free. The stopwatch subtracts the time in which this process or the engine
    // waited for a processor core.
    const stopwatch = startStopwatch(process.pid, ...engines());
    expect((await post(`${app.url}/v1/eval`, quick)).status).toBe(200);
    return stopwatch();
  });
  expect(times.worstMs, JSON.stringify(times)).toBeLessThan(500);
  expect(times.medianMs).toBeLessThan(100);
});

function engines(): readonly number[] {
  return enginesRunning().filter((pid) =>
    readFileSync(`/proc/${pid}/cmdline`, "latin1").includes("stockfish"),
  );
}
