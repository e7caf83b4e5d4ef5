import { readFileSync } from "node:fs";
import { expect } from "vitest";
import { createWasmBackend } from "../../src/engine/backends/wasm/index.ts";
import { createSandbox } from "../../src/engine/sandbox/sandbox.ts";
import { defaultWatchTimes } from "../../src/engine/uci/watch.ts";
import { middleGame } from "../contract/determinism.ts";
import { testWith } from "../support/needs.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";
import { jobOf } from "./job-of.ts";
import { enginesRunning, processorMsOf } from "./processes.ts";

const forever = new AbortController().signal;
const hide = useTemporaryFolder();
const rounds = 3;
/** On a busy machine, a start may take longer than usual. */
const times = { ...defaultWatchTimes, startMs: 120_000 };

const figureOf = (file: string, pattern: RegExp) =>
  Number(pattern.exec(readFileSync(new URL(`../../${file}`, import.meta.url), "utf8"))?.[1]);

/** Starts an engine in the sandbox, as the service does, and searches once. */
async function costsOf(isFast: boolean) {
  const sandbox = await createSandbox({ userName: undefined, hide });
  const backend = createWasmBackend({ hashMb: 4, threads: 1 }, sandbox, times, { fast: isFast });
  const builds = await backend.discover(forever);
  const build = builds.find(({ id }) => id === "stockfish-19") ?? expect.fail("no build");
  await using session = await backend.start(build, forever);
  const [pid = 0, ...others] = enginesRunning();
  expect(others).toEqual([]);
  const startMs = processorMsOf(pid);
  await session.search(jobOf({ fen: middleGame, depth: 14 }), forever);
  await session.ready(forever);
  expect(build.slowerBecause === undefined, build.slowerBecause).toBe(isFast);
  const status = readFileSync(`/proc/${pid}/status`, "latin1");
  const megabytes = (field: string) => (Number(status.split(`${field}:`)[1]?.split("kB")[0]) * 1024) / 1e6;
  return { startMs, restMb: megabytes("VmRSS"), peakMb: megabytes("VmHWM") };
}

const mean = (values: readonly number[]) => values.reduce((sum, one) => sum + one, 0) / values.length;

testWith("namespaces", "util-linux")(
  "the fast build takes at most 540 MB after a search, as README says, and 600 MB while it starts, and starts in at most 1.4 times the processor time of the npm package stockfish",
  async () => {
    const fast: Awaited<ReturnType<typeof costsOf>>[] = [];
    const npm: typeof fast = [];
    for (let round = 0; round < rounds; round++) {
      npm.push(await costsOf(false));
      fast.push(await costsOf(true));
    }
    const documentedMb = figureOf("README.md", /each concurrent search needs (\d+) MB/);
    expect(documentedMb).toBeLessThanOrEqual(540);
    expect(figureOf("docs/running.md", /Each slot needs (\d+) MB/)).toBe(documentedMb);
    for (const { restMb, peakMb } of fast) {
      expect(restMb).toBeLessThanOrEqual(documentedMb);
      expect(restMb).toBeGreaterThan(0.95 * documentedMb);
      expect(peakMb).toBeLessThan(600);
    }
    const [fastMs, npmMs] = [fast, npm].map((costs) => mean(costs.map(({ startMs }) => startMs)));
    expect(fastMs).toBeLessThan(1.4 * (npmMs ?? 0));
  },
);
