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

test("a client that leaves by its deadline or by cancelling, in any language, frees the engine within 500 ms", async () => {
  const tries = probes.flatMap((probe) => waysToLeave.map((way) => ({ probe, ...way })));
  const times = await timesOf(tries.length, async (index) => {
    const { probe, command, code } = tries[index] ?? expect.fail();
    const left = await probe.ask({ ...command, metadata: newCaller() });
    expect(left.code).toBe(code);
    // The next search can begin only when the engine is free. This process serves it, and the engine works in between.
    const stopwatch = startStopwatch(process.pid, ...engines());
    expect((await post(`${app.url}/v1/eval`, quick)).status).toBe(200);
    return stopwatch();
  });
  expect(times.worstMs, JSON.stringify(times)).toBeLessThan(500);
  expect(times.medianMs).toBeLessThan(100);
});

/** The engines of the service, without the probes. */
function engines(): readonly number[] {
  return enginesRunning().filter((pid) =>
    readFileSync(`/proc/${pid}/cmdline`, "latin1").includes("stockfish"),
  );
}
