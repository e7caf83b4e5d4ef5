import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { availableParallelism } from "node:os";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { benchPositions } from "../../bench/positions.ts";
import { nativeStockfish } from "../support/native-stockfish.ts";
import { quickestSettings } from "../support/quickest-settings.ts";
import { startServer } from "../support/start-server.ts";
import { startStopwatch } from "../support/stopwatch.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";
import { choiceOfRow, engineRows } from "./engine-rows.ts";

const searches = 400;
const movetimesMs = [50, 100, 250, 1000] as const;
/** There is one slot for each core and one caller for each slot, so engines keep all cores busy. */
const slots = availableParallelism();
/** 19 and 4 have no common divisor, so each position is searched with each of the four movetimes. */
const positions = benchPositions(19);
const dataDir = useTemporaryFolder();

/**
 * The measured time ends with the last byte of the response. Time in which the server or the test waited for a core is
 * subtracted.
 */
test.each(engineRows)(
  "99 of 100 searches with a movetime are answered within movetime + 100 ms on %s",
  async (row) => {
    const { url, pid, stop } = await startServer({
      ...quickestSettings,
      KIBITZ_WASM_BUILD: "fast",
      KIBITZ_DATA_DIR: dataDir,
      KIBITZ_NATIVE_ENGINES: nativeStockfish() ?? "none",
      KIBITZ_SLOTS: String(slots),
      KIBITZ_CACHE_MB: "0",
    });
    const choice = await choiceOfRow(row, url);
    const agent = new Agent({ keepAlive: true });
    const overrunsMs: number[] = [];
    let asked = 0;

    async function ask(movetimeMs: number): Promise<number | undefined> {
      // Each request has a new move number, because equal requests would share a search.
      const fen = positions[asked % positions.length]?.fen.replace(/\d+$/, String(1 + asked));
      asked++;
      const stopwatch = startStopwatch(process.pid, pid);
      const headers = { "content-type": "application/json" };
      const call = request(`${url}/v1/eval`, { method: "POST", headers, agent });
      call.end(JSON.stringify({ fen, depth: 30, movetime_ms: movetimeMs, ...choice }));
      const [response] = (await once(call, "response")) as [IncomingMessage];
      const answer = await text(response);
      const tookMs = stopwatch();
      expect(response.statusCode, answer).toBe(200);
      return JSON.parse(answer).search.stop_reason === "movetime" ? tookMs - movetimeMs : undefined;
    }
    const byEveryCaller = (run: () => Promise<void>) => Promise.all(Array.from({ length: slots }, run));

    try {
      // Warm-up: every slot starts its engine, and V8 compiles the hot functions.
      await byEveryCaller(async () => {
        for (let round = 0; round < 10; round++) {
          await ask(100);
        }
      });
      let next = 0;
      await byEveryCaller(async () => {
        while (next < searches) {
          const overrunMs = await ask(movetimesMs[next++ % movetimesMs.length] ?? 0);
          overrunsMs.push(...(overrunMs === undefined ? [] : [overrunMs]));
        }
      });
    } finally {
      agent.destroy();
      await stop();
    }
    overrunsMs.sort((a, b) => a - b);
    const [median, p99, worst] = [0.5, 0.99, 1].map(
      (share) =>
        overrunsMs[Math.min(overrunsMs.length - 1, Math.floor(overrunsMs.length * share))] ?? Number.NaN,
    );
    console.log(
      `measured: movetime, ${row}: overrun median ${median} ms, p99 ${p99} ms, worst ${worst} ms of ${overrunsMs.length}`,
    );
    // The remaining searches ended early, by a mate or at depth 30.
    expect(overrunsMs.length).toBeGreaterThan(searches / 2);
    // The server sends `stop` at the limit. WebAssembly engines read their input every 46 ms.
    expect(median).toBeLessThan(row === "native" ? 25 : 50);
    expect(p99).toBeLessThan(100);
  },
);
