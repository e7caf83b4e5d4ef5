import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { enginesRunning } from "../../../engine/processes.ts";
import { createRandom } from "../../../support/random.ts";
import { useApp } from "../../../support/running-app.ts";

const app = useApp({ KIBITZ_CACHE_MB: "0", KIBITZ_QUEUE_MAX_WAIT_MS: "600000" });

async function ask(fen: string): Promise<[number, unknown]> {
  const response = await fetch(`${app.url}/v1/bestmove`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ fen, depth: 13 }),
  });
  const { best_move: best } = (await response.json()) as { best_move?: unknown };
  return [response.status, best];
}

/** Middle games of the corpus: some tens of milliseconds of search each. */
const fens = readFileSync(new URL("../../../corpus/fens.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line): { class: string; fen: string } => JSON.parse(line))
  .filter((line) => line.class === "tactic")
  .map(({ fen }) => fen);

/** Kills or suspends one of the engines. One that is gone by then was retired: nothing to do. */
function hurt(signal: "SIGKILL" | "SIGSTOP", victim: number): void {
  try {
    process.kill(victim, signal);
  } catch {
    // Gone already.
  }
}

/** Often enough to hit searches, and so seldom that no request meets three of them: it is tried three times. */
const hurtEveryMs = 1500;
/** Three are killed and one is suspended. The bench does a thousand: `npm run bench:kills`. */
const hurtsMin = 4;

test("engines that are killed and suspended under load lose no request", async () => {
  const random = createRandom(7);
  let hurts = 0;
  const hurting = setInterval(() => {
    const victims = enginesRunning();
    if (victims.length > 0 && hurts < hurtsMin) {
      hurt(++hurts % 4 === 0 ? "SIGSTOP" : "SIGKILL", random.pick(victims));
    }
  }, hurtEveryMs);
  const answers: [number, unknown][] = [];
  const client = async () => {
    // A busy machine takes longer for an answer than it is left in peace.
    while (hurts < hurtsMin || answers.length <= hurtsMin) {
      answers.push(await ask(random.pick(fens)));
    }
  };
  await Promise.all([client(), client(), client(), client()]);
  clearInterval(hurting);
  expect(answers.length).toBeGreaterThan(hurtsMin);
  expect(answers.filter(([status, best]) => status !== 200 || !best)).toEqual([]);
}, 120_000);
