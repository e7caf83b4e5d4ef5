import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { startFen } from "../../contract/doors/cases/case.ts";
import { post } from "../../contract/doors/post.ts";
import { enginesRunning, stillRunning } from "../../engine/processes.ts";
import { useApp } from "../../support/running-app.ts";

const app = useApp({
  KIBITZ_SLOTS: "1",
  KIBITZ_NATIVE_ENGINES: "none",
  KIBITZ_DEFAULT_ENGINE: "stockfish-19-lite",
  KIBITZ_CACHE_MB: "0",
  // Enough for one of each build.
  KIBITZ_ENGINE_MEMORY_MB: "1000",
});

const evaluate = async (engine: string) =>
  (await post(`${app.url}/v1/eval`, { fen: startFen, depth: 2, engine })).status;
const enginesOf = (loader: string) =>
  enginesRunning().filter((pid) => readFileSync(`/proc/${pid}/cmdline`, "latin1").includes(`/${loader}`));
const lite = () => enginesOf("stockfish-19-lite-single.js");
const full = () => enginesOf("stockfish-19-single.js");

test("callers who take turns with two builds in one slot meet the same two engines, from readiness on", async () => {
  const warm = lite();
  expect(warm).toHaveLength(1);
  expect(await evaluate("stockfish-19")).toBe(200);
  const other = full();
  expect(other).toHaveLength(1);
  for (let times = 0; times < 3; times++) {
    expect([await evaluate("latest"), await evaluate("stockfish-19")]).toEqual([200, 200]);
  }
  expect([lite(), full()]).toEqual([warm, other]);
});

test("a default engine that is killed is there again, though nobody asks", async () => {
  const [pid = 0] = lite();
  process.kill(pid, "SIGKILL");
  await expect.poll(() => stillRunning([pid])).toEqual([]);
  await expect.poll(() => lite().length).toBe(1);
  expect(await evaluate("latest")).toBe(200);
  expect(lite()).toHaveLength(1);
});
