/**
 * Compares reviews by Kibitz with engines that run without Kibitz.
 *     node bench/review.ts [rounds, default 5] [slots, default 2] [depth, default 12]
 */

import { inOneGo } from "../src/chess/in-one-go.ts";
import type { Position } from "../src/chess/position.ts";
import { standardStart } from "../src/chess/read-fen.ts";
import { legalGameFromMoves, withPositions } from "../src/game/game.ts";
import { type Server, startServer } from "../test/support/start-server.ts";
import { makeDataFolder } from "./data-folder.ts";
import { type BenchEngine, hashMb, nativeEngine, wasmEngine } from "./service/engine.ts";
import { startBareEngine } from "./service/peers/bare-engines.ts";
import { quantile } from "./service/statistics.ts";

const rounds = Number(process.argv[2] ?? 5);
const slots = Number(process.argv[3] ?? 2);
const depth = Number(process.argv[4] ?? 12);
const knownAsked = 20;
const searchedGoal = 1.05;
const knownGoalMs = 60;

/** The first 80 plies of Kasparov – Topalov, Wijk aan Zee 1999. */
const moves =
  `e4 d6 d4 Nf6 Nc3 g6 Be3 Bg7 Qd2 c6 f3 b5 Nge2 Nbd7 Bh6 Bxh6 Qxh6 Bb7 a3 e5 O-O-O Qe7 Kb1 a6 Nc1 O-O-O Nb3
 exd4 Rxd4 c5 Rd1 Nb6 g3 Kb8 Na5 Ba8 Bh3 d5 Qf4+ Ka7 Rhe1 d4 Nd5 Nbxd5 exd5 Qd6 Rxd4 cxd4 Re7+ Kb6 Qxd4+ Kxa5 b4+ Ka4
 Qc3 Qxd5 Ra7 Bb7 Rxb7 Qc4 Qxf6 Kxa3 Qxa6+ Kxb4 c3+ Kxc3 Qa1+ Kd2 Qb2+ Kd1 Bf1 Rd2 Rd7 Rxd7 Bxc4 bxc4 Qxh8 Rd3 Qa8 c3`
    .trim()
    .split(/\s+/);

/** The FEN of each round has another move number. The cache then contains no position of the round. */
const startOf = (round: number) => standardStart.replace(/1$/, String(1 + round));

interface Answer {
  readonly search: { readonly positions: number; readonly searched: number; readonly time_ms: number };
}

async function review({ url }: Server, { id, path }: BenchEngine, round: number) {
  const body = JSON.stringify({ fen: startOf(round), moves, depth, engine: id, path });
  const askedAt = performance.now();
  const response = await fetch(`${url}/v1/review`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  const text = await response.text();
  const tookMs = performance.now() - askedAt;
  if (response.status !== 200) {
    throw new Error(`${response.status} ${text}`);
  }
  return { tookMs, search: (JSON.parse(text) as Answer).search };
}

/** Searches each position on the first engine that becomes idle. Returns the total time in milliseconds. */
async function searchBare(
  engines: readonly { search(position: string, depth: number): Promise<string> }[],
  positions: readonly Position[],
): Promise<number> {
  const askedAt = performance.now();
  let next = 0;
  await Promise.all(
    engines.map(async (engine) => {
      for (let at = next++; at < positions.length; at = next++) {
        const { root = "", moves: history = [] } = positions[at] ?? {};
        await engine.search(`fen ${root}${history.length > 0 ? ` moves ${history.join(" ")}` : ""}`, depth);
      }
    }),
  );
  return performance.now() - askedAt;
}

async function measure(engine: BenchEngine): Promise<void> {
  const bare = await Promise.all(Array.from({ length: slots }, () => startBareEngine(engine)));
  const env = {
    PATH: process.env.PATH,
    KIBITZ_DATA_DIR: makeDataFolder(),
    KIBITZ_ACCESS: "open",
    KIBITZ_SLOTS: String(slots),
    KIBITZ_HASH_MB: String(hashMb),
  };
  let server = await startServer(env);
  const bareMs: number[] = [];
  const searchedMs: number[] = [];
  const knownMs: number[] = [];
  // Ignore the first round, because V8 has not compiled the hot functions yet.
  for (let round = 0; round <= rounds; round++) {
    const game = inOneGo(withPositions(inOneGo(legalGameFromMoves({ fen: startOf(round), moves }))));
    bareMs.push(await searchBare(bare, game.positions));
    const { tookMs, search } = await review(server, engine, round);
    if (search.searched !== moves.length + 1) {
      throw new Error(`${search.searched} positions were searched, not ${moves.length + 1}`);
    }
    searchedMs.push(tookMs);
    for (let time = 0; time < knownAsked; time++) {
      knownMs.push(await reviewKnown(server, engine, round));
    }
  }
  // Restart the server, so that answers come from disk.
  await server.stop();
  server = await startServer(env);
  const storedMs: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    storedMs.push(await reviewKnown(server, engine, round));
  }
  bare.forEach(({ stop }) => void stop());
  await server.stop();
  printFigures(engine, bareMs.slice(1), searchedMs.slice(1), knownMs.slice(knownAsked), storedMs.slice(1));
}

async function reviewKnown(server: Server, engine: BenchEngine, round: number): Promise<number> {
  const { tookMs, search } = await review(server, engine, round);
  if (search.searched > 0) {
    throw new Error(`${search.searched} known positions were searched`);
  }
  return tookMs;
}

function printFigures(
  { name, path }: BenchEngine,
  bareMs: readonly number[],
  searchedMs: readonly number[],
  knownMs: readonly number[],
  storedMs: readonly number[],
): void {
  const ratios = searchedMs.map((ms, round) => ms / (bareMs[round] ?? Number.NaN));
  const row = (what: string, values: readonly number[], digits: number, goal = "") => {
    const sorted = values.toSorted((a, b) => a - b);
    const [median, most] = [0.5, 1].map((share) => quantile(sorted, share).toFixed(digits));
    console.log(`  ${what.padEnd(44)}${`${median} (most ${most})`.padEnd(28)}${goal}`);
  };
  console.log(
    `${name}, ${path}: ${moves.length} plies at depth ${depth}, ${slots} at a time, ${bareMs.length} rounds`,
  );
  row("bare engines, ms", bareMs, 0);
  row("review, nothing known, ms", searchedMs, 0);
  row("review / bare engines", ratios, 3, `median at most ${searchedGoal}`);
  row("review, all in memory, ms", knownMs, 1, `median under ${knownGoalMs}`);
  row("review, all in the store, ms", storedMs, 1, `median under ${knownGoalMs}`);
}

for (const engine of [await wasmEngine(), await nativeEngine().catch(() => undefined)]) {
  if (engine === undefined) {
    console.log("native: no engine here");
  } else {
    await measure(engine);
  }
}
