import type { EnginePath } from "../../src/engine/engine.ts";
import type { BenchEngine } from "./engine.ts";
import { type BenchOptions, peers, type RowKind } from "./options.ts";
import type { Peer, PeerSettings, StartedPeer } from "./peer.ts";
import { kibitzBeside } from "./peers/kibitz.ts";
import { perSecondMax, type QuestionBook } from "./questions.ts";
import { type Measured, takeTurns } from "./turns.ts";

export interface Row {
  readonly kind: RowKind;
  readonly path: EnginePath;
  readonly depth: number;
  readonly callers: number;
  /** The total rate of all callers. If undefined, each caller waits for the answer before its next request. */
  readonly perSecond?: number;
  readonly measured: readonly Measured[];
}

const repeatedCount = 100;

type Running = StartedPeer & Pick<Peer, "name" | "keepsHash">;

/** In each round, all services get the same positions. */
export async function measureRows(
  engine: BenchEngine,
  options: BenchOptions,
  book: QuestionBook,
  settings: PeerSettings,
  onRow: (row: Row) => void,
): Promise<void> {
  const running = await startAll(options, settings);
  try {
    await warmUp(running, options.warmSeconds, book);
    const { path } = engine;
    for (const depth of options.kinds.includes("new") ? options.depths : []) {
      await compareMoves(running, depth, book);
      for (const callers of options.callers) {
        onRow({
          kind: "new",
          path,
          depth,
          callers,
          measured: await askNew(running, depth, callers, options, book),
        });
      }
    }
    const callers = 8;
    for (const depth of options.kinds.includes("repeated") ? [8] : []) {
      onRow({
        kind: "repeated",
        path,
        depth,
        callers,
        measured: await askAgain(running, depth, callers, options, book),
      });
    }
  } finally {
    await Promise.all(running.map(({ stop }) => stop()));
  }
}

async function startAll(
  { peers: words, beside }: BenchOptions,
  settings: PeerSettings,
): Promise<readonly Running[]> {
  const wanted: readonly Peer[] = [
    ...words.map((word) => peers[word]),
    ...(beside === undefined ? [] : [kibitzBeside(beside)]),
  ];
  const running: Running[] = [];
  for (const peer of wanted) {
    const lack = await peer.lack?.(settings);
    if (lack === undefined) {
      const { name, keepsHash } = peer;
      running.push({ ...(await peer.start(settings)), name, keepsHash });
    } else {
      console.log(`${peer.name} is left out: ${lack}.`);
    }
  }
  return running;
}

/** Sends requests until V8 has compiled the hot functions and the engines have allocated their memory. */
async function warmUp(running: readonly Running[], seconds: number, book: QuestionBook): Promise<void> {
  const file = book.write(perSecondMax(1) * seconds, (nextFen) => ({ fen: nextFen(), depth: 1 }));
  for (const { load } of running) {
    await load({ file, callers: 8, seconds, repeats: false });
  }
}

/** Throws Error if two services find different moves. Ignores services that do not clear the hash table. */
async function compareMoves(running: readonly Running[], depth: number, book: QuestionBook): Promise<void> {
  const fen = book.nextFen();
  const moves = new Map<string, string>();
  for (const { name, bestMoveOf, keepsHash } of running) {
    const move = await bestMoveOf(fen, depth);
    if (!keepsHash) {
      moves.set(move, name);
    }
  }
  if (moves.size > 1) {
    const found = [...moves].map(([move, name]) => `${name} ${move}`).join(", ");
    throw new Error(`not the same search of ${fen} at depth ${depth}: ${found}`);
  }
}

/** A search to this depth takes some tenths of a second. */
const deep = 12;
/** Seconds per caller. Each caller then gets several answers to searches of the depth `deep`. */
const deepSecondsPerCaller = 0.5;
const deepSecondsMin = 10;

async function askNew(
  running: readonly Running[],
  depth: number,
  callers: number,
  { rounds, seconds: asked }: BenchOptions,
  book: QuestionBook,
): Promise<readonly Measured[]> {
  const seconds = depth < deep ? asked : Math.max(asked, deepSecondsMin, callers * deepSecondsPerCaller);
  const files = new Map<number, string>();
  const fileOf = (round: number) => {
    const file =
      files.get(round) ??
      book.write(perSecondMax(depth) * Math.ceil(seconds), (nextFen) => ({ fen: nextFen(), depth }));
    files.set(round, file);
    return file;
  };
  return takeTurns(
    running.map(({ name, pid, load }) => ({
      name,
      pid,
      load: (round) => load({ file: fileOf(round), callers, seconds, repeats: false }),
    })),
    rounds,
  );
}

async function askAgain(
  running: readonly Running[],
  depth: number,
  callers: number,
  { rounds, seconds }: BenchOptions,
  book: QuestionBook,
): Promise<readonly Measured[]> {
  const file = book.write(repeatedCount, (nextFen) => ({ fen: nextFen(), depth }));
  const runners = running.map(({ name, pid, load }) => ({
    name,
    pid,
    load: () => load({ file, callers, seconds, repeats: true }),
  }));
  // Ignore the first round, which fills the caches of all services.
  await takeTurns(runners, 1);
  return takeTurns(runners, rounds);
}
