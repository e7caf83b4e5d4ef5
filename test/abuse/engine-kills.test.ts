import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { stillRunning } from "../engine/processes.ts";
import { createRandom } from "../support/random.ts";
import { useService } from "./started-service.ts";

const service = useService({ KIBITZ_QUEUE_MAX_WAIT_MS: "600000" });

const fens = readFileSync(new URL("../corpus/fens.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line): { class: string; fen: string } => JSON.parse(line))
  .filter((line) => line.class === "tactic")
  .map(({ fen }) => fen);

/** So seldom that no request meets three of them: it is tried three times. */
const hurtEveryMs = 2500;
const hurtsMax = 6;

test("17: engines that are killed or frozen cost no request its answer, and frozen ones are found", async () => {
  const random = createRandom(17);
  const frozen: number[] = [];
  let hurts = 0;
  const hurting = setInterval(() => {
    const engines = service.engines().filter((pid) => !frozen.includes(pid));
    if (engines.length === 0) {
      return;
    }
    const victim = random.pick(engines);
    const freeze = ++hurts % 3 === 0;
    try {
      process.kill(victim, freeze ? "SIGSTOP" : "SIGKILL");
    } catch {
      // Gone already.
    }
    if (freeze) {
      frozen.push(victim);
    }
  }, hurtEveryMs);
  const answers: [number, unknown][] = [];
  const client = async () => {
    while (hurts < hurtsMax) {
      const { status, body } = await service.post("/v1/bestmove", { fen: random.pick(fens), depth: 13 });
      answers.push([status, JSON.parse(body).best_move ?? body]);
    }
  };
  await Promise.all([client(), client(), client(), client()]);
  clearInterval(hurting);
  expect(answers.filter(([status]) => status !== 200)).toEqual([]);
  expect(answers.length).toBeGreaterThan(hurtsMax);
  expect(frozen.length).toBeGreaterThan(0);
  // One that froze while it was idle is found when it is needed next.
  await expect
    .poll(
      async () => {
        await Promise.all([fens[0], fens[1]].map((fen) => service.post("/v1/bestmove", { fen, depth: 8 })));
        return stillRunning(frozen);
      },
      { timeout: 15_000 },
    )
    .toEqual([]);
}, 120_000);
