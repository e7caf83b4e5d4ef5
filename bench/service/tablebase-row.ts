import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { syzygyTables } from "../../test/support/python-chess/syzygy-tables.ts";
import { createRandom } from "../../test/support/random.ts";
import { namesOfTables, randomEnding } from "../endings.ts";
import { askedTwice } from "./cached.ts";
import type { BenchOptions } from "./options.ts";
import type { PeerSettings } from "./peer.ts";
import { type StartedKibitz, startKibitz } from "./peers/kibitz.ts";
import { perSecondMax, type QuestionBook } from "./questions.ts";
import { figures, ratioOf, spreadOf } from "./statistics.ts";
import { number, table, withSpread } from "./table.ts";
import { type Measured, type Runner, takeTurns } from "./turns.ts";
import { loadByWrk } from "./wrk.ts";

const endingCount = 1000;
/** Each is evaluated once before the measurement, and then comes from the cache. */
const cachedCount = 200;
const menOfTables = 4;
const callers = 8;
/** A ratio of nearly 1 needs more rounds than the other figures. */
const roundsOfRatio = 12;

/** Compares a node with the tables of three and four men with a node without tables. */
export async function measureTablebase(
  { rounds, warmSeconds, seconds }: BenchOptions,
  settings: PeerSettings,
  book: QuestionBook,
): Promise<string> {
  const folder = syzygyTables();
  const random = createRandom(1);
  const names = namesOfTables(folder);
  const endings = Array.from({ length: endingCount }, () => randomEnding(random.pick(names), random));
  const fens = endings.flatMap(({ position }) => (position.terminal ? [] : [position.fen]));
  const probes = join(settings.folder, "probes.txt");
  writeFileSync(probes, fens.map((fen) => `/v1/tablebase?fen=${encodeURIComponent(fen)}`).join("\n"));
  const cachedFens = fens.values();
  const cached = book.write(cachedCount, () => ({ fen: cachedFens.next().value, depth: 1 }));
  const evals = Array.from({ length: roundsOfRatio }, () => newQuestions(book, seconds));
  const warmUp = newQuestions(book, warmSeconds);

  const without = await startKibitz(settings);
  const withTables = await startKibitz(settings, { settings: { KIBITZ_SYZYGY: folder } });
  const nodes = [
    ["without tables", without],
    ["with tables", withTables],
  ] as const;
  try {
    for (const [, { server, headers, load }] of nodes) {
      await load({ file: warmUp, callers, seconds: warmSeconds, repeats: false });
      for (const line of readFileSync(cached, "utf8").split("\n")) {
        await askedTwice(server.url, JSON.parse(line), headers);
      }
      await load({ file: cached, callers, seconds: warmSeconds, repeats: true });
    }
    const probe = (duration: number) => loadProbes(withTables, probes, duration);
    await probe(warmSeconds);
    const name = "`/v1/tablebase`, with all moves";
    const probed = await takeTurns([{ name, pid: withTables.pid, load: () => probe(seconds) }], rounds);
    const ofCache = await takeTurns(
      runnersOf(
        nodes,
        "`/v1/eval` from the cache",
        ({ load }) =>
          () =>
            load({ file: cached, callers: 1, seconds, repeats: true }),
      ),
      rounds,
    );
    const searched = await takeTurns(
      runnersOf(
        nodes,
        "`/v1/eval` at depth 1, positions that no table has",
        ({ load }) =>
          (round) =>
            load({ file: evals[round] as string, callers, seconds, repeats: false }),
      ),
      roundsOfRatio,
    );
    const rows = [probed, ofCache, searched].flatMap(rowsOf);
    const head = ["", "answers a second", "× without tables", "p50 ms", "p99 ms", "server CPU µs a request"];
    return `${table(head, rows)}\n\nIn one process, without the port:\n\n${await measuredInProcess(folder)}`;
  } finally {
    await Promise.all(nodes.map(([, { stop }]) => stop()));
  }
}

type Nodes = readonly (readonly [string, StartedKibitz])[];

function runnersOf(
  nodes: Nodes,
  what: string,
  loadOf: (node: StartedKibitz) => Runner["load"],
): readonly Runner[] {
  return nodes.map(([name, node]) => ({ name: `${what}, ${name}`, pid: node.pid, load: loadOf(node) }));
}

/** Writes positions with more men than the tables have. */
function newQuestions(book: QuestionBook, seconds: number): string {
  return book.write(perSecondMax(1) * seconds, (nextFen) => {
    for (;;) {
      const fen = nextFen();
      if (fen.replace(/ .*/, "").replaceAll(/[^a-z]/gi, "").length > menOfTables) {
        return { fen, depth: 1 };
      }
    }
  });
}

function loadProbes({ server, headers }: StartedKibitz, file: string, seconds: number) {
  return loadByWrk({ url: server.url, headers, file, callers: 1, seconds, repeats: true });
}

function rowsOf(measured: readonly Measured[]): readonly (readonly string[])[] {
  const [first] = measured;
  return measured.map(({ name, turns }) => [
    name,
    withSpread(spreadOf(turns, figures.perSecond)),
    measured.length === 1 ? "" : withSpread(ratioOf(turns, first?.turns ?? [], figures.perSecond)),
    number(spreadOf(turns, figures.p50Ms).median),
    withSpread(spreadOf(turns, figures.p99Ms)),
    withSpread(spreadOf(turns, figures.serverUs)),
  ]);
}

/** Runs in a process of its own, because this one has a larger heap. */
async function measuredInProcess(folder: string): Promise<string> {
  const script = fileURLToPath(new URL("../tablebase.ts", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [script, folder]);
  return stdout.trim().replaceAll(/^/gm, "- ");
}
