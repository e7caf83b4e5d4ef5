/**
 * What metrics, traces and the log cost an answer, through the port: nodes that differ in nothing else are loaded in turns, and each
 * round of theirs is compared with the same round of the one that has the log alone. `the same again` is such a one, and says how
 * much chance there is in it; what is off costs what the difference between those two is. Spans go to a receiver that takes them all.
 *
 *     npm run bench:telemetry -- [--seconds 4] [--rounds 7] [--callers 8] [--rows cached,searched] [--beside ../other]
 *         [--kinds "the same again,traces at 1 %"]
 *
 * `--beside` is another checkout, such as one of before a change, with the log alone.
 */
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { freePort } from "../test/support/free-port.ts";
import { makeDataFolder } from "./data-folder.ts";
import { askedTwice } from "./service/cached.ts";
import { nativeEngine } from "./service/engine.ts";
import { type KibitzOptions, type StartedKibitz, startKibitz } from "./service/peers/kibitz.ts";
import { createQuestionBook, mostPerSecond } from "./service/questions.ts";
import { figures, ratioOf, type Spread, spreadOf } from "./service/statistics.ts";
import { table, withSpread } from "./service/table.ts";
import { takeTurns } from "./service/turns.ts";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "4" },
    rounds: { type: "string", default: "7" },
    callers: { type: "string", default: "8" },
    rows: { type: "string", default: "cached,searched" },
    kinds: { type: "string" },
    beside: { type: "string" },
  },
});
const seconds = Number(values.seconds);
const rounds = Number(values.rounds);
const callers = Number(values.callers);

/** Least share of the throughput that is left. */
const goals: Readonly<Record<string, number>> = { metrics: 0.97, "traces at 1 %": 0.95 };

await using started = new AsyncDisposableStack();
const folder = makeDataFolder();
const engine = await nativeEngine();
let spanBytes = 0;
const receiver = createServer((req, res) => {
  req.on("data", (part: Buffer) => {
    spanBytes += part.length;
  });
  req.on("end", () => res.end());
}).listen(0, "127.0.0.1");
started.defer(() => {
  receiver.closeAllConnections();
  receiver.close();
});
await once(receiver, "listening");
const endpoint = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
const traces = (ratio: string) => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
  OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
  OTEL_TRACES_SAMPLER_ARG: ratio,
});
const metrics = async () => ({ KIBITZ_METRICS_PORT: String(await freePort()) });

const plain = "the log alone";
const kinds: Readonly<Record<string, KibitzOptions>> = {
  [plain]: {},
  "the same again": {},
  "traces off": { env: { ...traces("1"), OTEL_SDK_DISABLED: "true" } },
  metrics: { env: await metrics() },
  "traces at 1 %": { env: traces("0.01") },
  "metrics, traces at 1 %": { env: { ...(await metrics()), ...traces("0.01") } },
  "traces, all": { env: traces("1") },
  "no log": { settings: { KIBITZ_LOG_LEVEL: "silent" } },
  ...(values.beside !== undefined && { [`the log alone, ${values.beside}`]: { checkout: values.beside } }),
};
const wanted = values.kinds?.split(",");
const nodes = new Map<string, StartedKibitz>();
for (const [name, options] of Object.entries(kinds)) {
  if (wanted && name !== plain && !wanted.includes(name)) {
    continue;
  }
  const node = await startKibitz({ engine, slots: 2, python: "", folder }, options);
  started.defer(async () => void (await node.stop()));
  nodes.set(name, node);
  const metricsPort = options.env?.KIBITZ_METRICS_PORT;
  if (metricsPort !== undefined) {
    // What Node tells of itself is watched from then on.
    await fetch(`http://127.0.0.1:${metricsPort}/metrics`);
  }
}

const question = { fen: "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", depth: 14 };
const book = createQuestionBook(folder);

/** @param depth of new positions; one that is known if undefined */
async function measure(title: string, depth: number | undefined): Promise<void> {
  const cached = join(folder, "question.json");
  writeFileSync(cached, JSON.stringify(question));
  for (const { server, headers } of depth === undefined ? nodes.values() : []) {
    await askedTwice(server.url, question, headers);
  }
  const files: string[] = [];
  /** The same questions for all, round by round: none of them has seen those of another. */
  const fileOf = (round: number, most: number) => {
    files[round] ??= book.write(Math.ceil(most) + callers, (nextFen) => ({ fen: nextFen(), depth }));
    return files[round];
  };
  let round = 0;
  const runners = [...nodes].map(([name, { pid, load }]) => ({
    name,
    pid,
    load: () =>
      depth === undefined
        ? load({ file: cached, callers, seconds, repeats: true })
        : load({
            file: fileOf(round, mostPerSecond(depth) * seconds),
            callers,
            seconds,
            repeats: false,
          }),
  }));
  /** Each is first, last and behind every other as often: who comes twice in a row has a warm machine. */
  const nextRound = async () => {
    const from = round % runners.length;
    const order = [...runners.slice(from), ...runners.slice(0, from)];
    const turns = await takeTurns(round % 2 === 0 ? order : order.toReversed(), 1);
    round++;
    return new Map(turns.map(({ name, turns: [turn] }) => [name, turn]));
  };
  // V8 compiles the hot functions meanwhile.
  await nextRound();
  const byRound: Awaited<ReturnType<typeof nextRound>>[] = [];
  while (byRound.length < rounds) {
    byRound.push(await nextRound());
  }
  const measured = runners.map(({ name }) => ({
    name,
    turns: byRound.flatMap((turns) => turns.get(name) ?? []),
  }));
  const base = measured.find(({ name }) => name === plain)?.turns ?? [];
  const rows = measured.map(({ name, turns }) => {
    const left = ratioOf(turns, base, figures.perSecond);
    return [
      name,
      withSpread(spreadOf(turns, figures.perSecond)),
      shares(left),
      shares(ratioOf(turns, base, figures.serverUs)),
      judgementOf(name, left),
    ];
  });
  console.log(`\n${title}, ${callers} callers, ${rounds} rounds of ${seconds} s\n`);
  console.log(table(["with", "answers a second", "times the log alone", "server's CPU each", "goal"], rows));
}

function shares(figure: Spread | undefined): string {
  const shown = (value: number) => value.toFixed(3);
  return figure === undefined
    ? "-"
    : `${shown(figure.median)} (${shown(figure.least)} to ${shown(figure.most)})`;
}

function judgementOf(name: string, left: Spread | undefined): string {
  const goal = goals[name];
  return goal === undefined || left === undefined
    ? ""
    : `${left.median >= goal ? "kept" : "missed"}: ${goal}`;
}

const asked = values.rows.split(",");
if (asked.includes("cached")) {
  await measure("Cached answers", undefined);
}
if (asked.includes("searched")) {
  await measure("New positions at depth 1", 1);
}
console.log(`\nThe receiver of spans was sent ${(spanBytes / 1e6).toFixed(1)} MB.`);
