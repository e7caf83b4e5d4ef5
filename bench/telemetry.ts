/**
 * Measures how much metrics, traces and logs slow down cached answers. The row `the same again` shows the accuracy.
 *     node bench/telemetry.ts [seconds per measurement, default 4] [rounds, default 7]
 */
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { freePort } from "../test/support/free-port.ts";
import { makeDataFolder } from "./data-folder.ts";
import { askedTwice } from "./service/cached.ts";
import { nativeEngine } from "./service/engine.ts";
import { startKibitz } from "./service/peers/kibitz.ts";
import { figures, ratioOf, spreadOf } from "./service/statistics.ts";
import { table, withSpread } from "./service/table.ts";
import { type Runner, takeTurns } from "./service/turns.ts";

const seconds = Number(process.argv[2] ?? 4);
const rounds = Number(process.argv[3] ?? 7);
const callers = 8;

await using started = new AsyncDisposableStack();
const receiver = createServer((req, res) => {
  req.resume().on("end", () => res.end());
}).listen(0, "127.0.0.1");
started.defer(() => {
  receiver.closeAllConnections();
  receiver.close();
});
await once(receiver, "listening");
const traces = (ratio: string) => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`,
  OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
  OTEL_TRACES_SAMPLER_ARG: ratio,
});

/** The name and the settings of each node. If the third element is true, the node has metrics. */
const nodes: readonly (readonly [string, Readonly<Record<string, string>>, boolean?])[] = [
  ["the log alone", {}],
  ["the same again", {}],
  ["metrics", {}, true],
  ["traces at 1 %", traces("0.01")],
  ["metrics, and traces at 1 %", traces("0.01"), true],
  ["traces, all", traces("1")],
  ["no log", { KIBITZ_LOG_LEVEL: "silent" }],
];

const folder = makeDataFolder();
const file = join(folder, "question.json");
const question = { fen: "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", depth: 14 };
writeFileSync(file, JSON.stringify(question));
const engine = await nativeEngine();
const runners: Runner[] = [];
for (const [name, settings, withMetrics = false] of nodes) {
  const KIBITZ_METRICS_PORT = withMetrics ? String(await freePort()) : "0";
  const { server, headers, pid, load, stop } = await startKibitz(
    { engine, slots: 2 },
    { settings: { ...settings, KIBITZ_METRICS_PORT } },
  );
  started.defer(async () => void (await stop()));
  if (withMetrics) {
    // Request the metrics once: Node's own metrics are collected only after the first request.
    await fetch(`http://127.0.0.1:${KIBITZ_METRICS_PORT}/metrics`);
  }
  await askedTwice(server.url, question, headers);
  runners.push({ name, pid, load: () => load({ file, callers, seconds, repeats: true }) });
}

// Ignore this round, because V8 has not compiled the hot functions yet.
await takeTurns(runners, 1);
const measured = await takeTurns(runners, rounds);
const base = measured[0]?.turns ?? [];
console.log(`Cached answers, ${callers} callers, ${rounds} rounds of ${seconds} s\n`);
console.log(
  table(
    ["with", "answers a second", "× the log alone", "server's CPU, × the log alone"],
    measured.map(({ name, turns }) => [
      name,
      withSpread(spreadOf(turns, figures.perSecond)),
      withSpread(ratioOf(turns, base, figures.perSecond)),
      withSpread(ratioOf(turns, base, figures.serverUs)),
    ]),
  ),
);
