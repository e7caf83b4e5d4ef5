import { setTimeout as sleep } from "node:timers/promises";
import { benchPositions } from "../../../bench/positions.ts";
import { descendantsOf, stillRunning } from "../../engine/processes.ts";
import { engineChoicesOf } from "../../nightly/engine-choices.ts";
import { nativeStockfish } from "../../support/native-stockfish.ts";
import { quickestSettings } from "../../support/quickest-settings.ts";
import { createRandom } from "../../support/random.ts";
import { startServer } from "../../support/start-server.ts";

export interface Kills {
  readonly kills: number;
  readonly everyMs: number;
  readonly seed: number;
  readonly dataDir: string;
}

interface KillsOutcome {
  readonly answered: number;
  /**
   * The number of requests that were refused as `overloaded`. This happens if the first engine and the engine of the retry are
   * killed.
   */
  readonly overloaded: number;
  /** The outcomes of requests that got neither a complete answer nor the error `overloaded`. */
  readonly lost: readonly string[];
  /** The process ids of engines that still ran after the server had ended. */
  readonly left: readonly number[];
  readonly exitCode: number | null;
  /** The durations of engine starts in milliseconds, ascending. The key is `native` or `wasm`. */
  readonly readyMs: ReadonlyMap<string, readonly number[]>;
}

const callers = 4;
/**
 * At least this many requests are answered between two kills, on average. More frequent kills would often hit a search and its
 * retry.
 */
const answersPerKill = 10;
/** The most failed starts in a row that the test causes for a build. A third failure would make the build unavailable. */
const failedStartsMax = 2;

/**
 * Kills and suspends native and WebAssembly engines at random (three kills to one suspension), while four callers send
 * requests.
 */
export async function killEngines({ kills, everyMs, seed, dataDir }: Kills): Promise<KillsOutcome> {
  const random = createRandom(seed);
  const readyMs = new Map<string, number[]>();
  const failedStarts = new Map<string, number>();
  const { url, pid, stop } = await startServer(
    {
      ...quickestSettings,
      KIBITZ_NATIVE_ENGINES: nativeStockfish() ?? "none",
      KIBITZ_CACHE_MB: "0",
      KIBITZ_SLOTS: "2",
      // A request that is still waiting does not count as lost.
      KIBITZ_QUEUE_MAX_WAIT_MS: "600000",
      KIBITZ_LOG_LEVEL: "debug",
      KIBITZ_DATA_DIR: dataDir,
    },
    {
      onLog(line) {
        const { msg, engine, path, ms } = JSON.parse(line);
        const build = `${engine} ${path}`;
        if (msg === "engine could not be started") {
          failedStarts.set(build, (failedStarts.get(build) ?? 0) + 1);
        }
        if (msg === "engine started") {
          failedStarts.delete(build);
          readyMs.set(
            path,
            [...(readyMs.get(path) ?? []), ms].toSorted((a, b) => a - b),
          );
        }
      },
    },
  );
  const choices = await engineChoicesOf(url);
  const positions = benchPositions();
  const lost: string[] = [];
  let asked = 0;
  let answered = 0;
  let overloaded = 0;
  let isOver = false;

  async function ask(): Promise<void> {
    const { engine, path } = random.pick(choices);
    // Each request has a new move number, because equal requests would share a search.
    const fen = random.pick(positions).fen.replace(/\d+$/, String(1 + (asked++ % 5000)));
    const body = { fen, engine, path, depth: 10 + random.below(5), multipv: 1 + random.below(3) };
    const call = random.pick(["eval", "bestmove", "eval/stream"]);
    try {
      const response = await fetch(`${url}/v1/${call}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      const answer = await response.text();
      if (answer.includes('"code":"overloaded"')) {
        overloaded++;
        return;
      }
      const isWhole =
        call === "eval/stream" ? answer.includes("event: done") : JSON.parse(answer).best_move !== null;
      if (response.status !== 200 || !isWhole) {
        throw new Error(`${response.status} ${answer.slice(-400)}`);
      }
      answered++;
    } catch (error) {
      lost.push(`${call} ${JSON.stringify(body)}: ${error}`);
    }
  }

  const load = Array.from({ length: callers }, async () => {
    while (!isOver) {
      await ask();
    }
  });
  const seen = new Set<number>();
  for (let hurt = 0; hurt < kills; ) {
    await sleep(everyMs / 2 + random.below(everyMs));
    const engines = descendantsOf(pid);
    engines.forEach((engine) => void seen.add(engine));
    const tooManyFailed = [...failedStarts.values()].some((count) => count >= failedStartsMax);
    if (engines.length === 0 || tooManyFailed || hurt * answersPerKill > answered + lost.length) {
      continue;
    }
    try {
      process.kill(random.pick(engines), random.below(4) === 0 ? "SIGSTOP" : "SIGKILL");
      hurt++;
    } catch {
      // The engine had already ended.
    }
  }
  isOver = true;
  await Promise.all(load);
  descendantsOf(pid).forEach((engine) => void seen.add(engine));
  const exitCode = await stop();
  await sleep(200);
  return { answered, overloaded, lost, left: stillRunning([...seen]), exitCode, readyMs };
}
