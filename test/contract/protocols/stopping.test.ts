import { afterAll, expect, test, vi } from "vitest";
import { silentLog } from "../../../src/log/log.ts";
import { createMetrics } from "../../../src/metrics/metrics.ts";
import { type App, startApp } from "../../../src/wiring/app.ts";
import { loadConfig } from "../../../src/wiring/config.ts";
import { openEngines } from "../../../src/wiring/engines.ts";
import { enginesRunning } from "../../engine/processes.ts";
import { neverLate } from "../../support/never-late.ts";
import { patienceMs } from "../../support/patience.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";

const config = loadConfig({
  KIBITZ_PORT: "0",
  KIBITZ_SLOTS: "1",
  KIBITZ_DEFAULT_ENGINE: "stockfish-19-lite",
  KIBITZ_NATIVE_ENGINES: "none",
  KIBITZ_QUEUE_MAX_WAIT_MS: "600000",
  KIBITZ_ACCESS: "open",
  KIBITZ_DATA_DIR: useTemporaryFolder(),
});
const start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

let app: App;
afterAll(async () => app.stop());

test("a stopping server ends running and waiting searches early and sends their results", async () => {
  const opening = openEngines(config, silentLog, new AbortController().signal);
  const metrics = createMetrics("1.2.3");
  const watch = vi.spyOn(metrics, "watch");
  app = await startApp(config, silentLog, opening, { drainMs: 400, lag: neverLate, metrics });
  const ask = (path: string, depth: number, others = {}) =>
    fetch(`${app.url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ fen: start, depth, ...others }),
    });
  const asked = [ask("/v1/eval", 30), ask("/v1/bestmove", 29), ask("/v1/eval/stream", 28)];
  const reviewing = ask("/v1/review", 27, { moves: ["e4"] });
  // Both positions of the review wait for an engine. The server rejects requests that arrive after the stop.
  const searches = () => watch.mock.calls[0]?.[0].queue?.();
  await vi.waitFor(() => expect(searches()).toMatchObject({ running: 1, waiting: 4 }), patienceMs);
  const stopped = app.stop();
  const [unary, waited, stream] = await Promise.all(asked.map(async (one) => (await one).text()));
  for (const answer of [unary, waited]) {
    expect(JSON.parse(answer ?? "")).toMatchObject({
      search: { stop_reason: "server_limit", deterministic: false },
      best_move: { san: expect.any(String) },
      lines: [{ rank: 1 }],
    });
  }
  expect(stream).toMatch(/event: done\ndata: .*"stop_reason":"server_limit"/);
  // A review needs complete searches.
  const review = await reviewing;
  expect([review.status, review.headers.get("retry-after")]).toEqual([503, "5"]);
  expect(await review.json()).toMatchObject({ code: "shutting_down", next_action: "retry_later" });
  await stopped;
  expect(enginesRunning()).toEqual([]);
});
