import { readFileSync } from "node:fs";
import { expect } from "vitest";
import { wasmBuilds } from "../../src/engine/backends/wasm/builds.ts";
import { createWasmBackend } from "../../src/engine/backends/wasm/index.ts";
import type { SearchJob } from "../../src/engine/engine.ts";
import { noSandbox } from "../../src/engine/sandbox/sandbox.ts";
import { repeatable } from "../contract/determinism.ts";
import { createRandom } from "../support/random.ts";
import { jobOf } from "./job-of.ts";

const forever = new AbortController().signal;
const settings = { hashMb: 4, threads: 1 };

interface CorpusRow {
  readonly verdict: string;
  readonly fen: string;
  readonly expect: { readonly legal?: readonly string[]; readonly variant?: string };
}

const corpus = readFileSync(new URL("../corpus/fens.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line): CorpusRow => JSON.parse(line))
  .filter(({ verdict, expect: { legal = [] } }) => verdict === "valid" && legal.length > 0);

/** Returns searches of `count` different positions: positions of the corpus, and positions one move later. */
function jobsFrom(seed: number, count: number): readonly SearchJob[] {
  const random = createRandom(seed);
  const jobs = new Map<string, SearchJob>();
  for (let row = 0; jobs.size < count; row++) {
    const { fen, expect: known } = corpus[row % corpus.length] as CorpusRow;
    const { legal = [], variant } = known;
    const isLater = row >= corpus.length;
    const job = jobOf({
      fen,
      moves: isLater ? [random.pick(legal)] : [],
      chess960: variant === "chess960" || random.below(4) === 0,
      depth: 1 + random.below(14),
      nodes: random.below(4) === 0 ? 1 + random.below(30_000) : undefined,
      multipv: random.below(2) === 0 ? 1 : 1 + random.below(5),
      searchMoves: !isLater && random.below(4) === 0 ? legal.slice(0, 1 + random.below(4)) : [],
    });
    if (job.position.legalMoveCount > 0) {
      jobs.set(job.position.fen, job);
    }
  }
  return [...jobs.values()];
}

/** Runs the searches with the fast build and with the build of the npm package `stockfish`. Expects equal answers, except for times. */
export async function expectEqualAnswers(id: string, seed: number, count: number): Promise<void> {
  const start = async (fast: boolean) => {
    const rows = wasmBuilds.filter((row) => row.id === id);
    const backend = createWasmBackend(settings, noSandbox, undefined, { fast, rows });
    const [build] = await backend.discover(forever);
    const session = await backend.start(build ?? expect.fail(`no build of ${id}`), forever);
    expect(build?.slowerBecause === undefined, build?.slowerBecause).toBe(fast);
    return session;
  };
  await using fast = await start(true);
  await using npm = await start(false);
  const jobs = jobsFrom(seed, count);
  expect(jobs.length).toBe(count);
  for (const job of jobs) {
    const { position, ...limits } = job;
    const [one, other] = await Promise.all([repeatable(fast, job), repeatable(npm, job)]);
    expect(one, `${position.fen} ${JSON.stringify(limits)}`).toEqual(other);
  }
}
