/** Compares sizes of the hash table, as ADR 22 explains. Usage: `node bench/hash.ts [native] [wasm]`. */
import { readFileSync } from "node:fs";
import { Chess } from "chessops/chess";
import { makeFen } from "chessops/fen";
import { parseSan } from "chessops/san";
import { type BenchEngine, nativeEngine, wasmEngine } from "./service/engine.ts";
import { startBareEngine } from "./service/peers/bare-engines.ts";
import { newPositions } from "./service/questions.ts";

/** In MiB. */
const sizes = [4, 8, 16];

const positionsOf: Readonly<Record<number, number>> = { 8: 200, 14: 120, 20: 40 };

const engines: Readonly<Record<string, () => Promise<BenchEngine>>> = {
  native: () => nativeEngine(),
  wasm: wasmEngine,
};

const wanted = process.argv.slice(2);
for (const path of wanted.length > 0 ? wanted : Object.keys(engines)) {
  const engine = (await engines[path]?.()) ?? fail(`not an engine: ${path}`);
  console.log(`${engine.name}: positions a minute, and against the best size`);
  const bare = await Promise.all(sizes.map((size) => startBareEngine(engine, size)));
  for (const [depth, count] of Object.entries(positionsOf)) {
    const tookMs = sizes.map(() => 0);
    for (const [index, fen] of positions(count).entries()) {
      for (const turn of sizes.keys()) {
        const at = (index + turn) % sizes.length;
        const startedAt = performance.now();
        await bare[at]?.search(`fen ${fen}`, Number(depth));
        tookMs[at] = (tookMs[at] ?? 0) + performance.now() - startedAt;
      }
    }
    const best = Math.min(...tookMs);
    const cells = tookMs.map(
      (ms, at) => `${sizes[at]} MiB ${Math.round((count * 60_000) / ms)} (${(best / ms).toFixed(3)})`,
    );
    console.log(`depth ${depth}: ${cells.join(", ")}`);
  }
  bare.forEach(({ stop }) => void stop());
}

/** Half of the positions are the ends of the longest opening lines. The other half are from random games. */
function positions(count: number): readonly string[] {
  const lines = ["a", "b", "c", "d", "e"].flatMap((eco) =>
    readFileSync(new URL(`../third_party/chess-openings/${eco}.tsv`, import.meta.url), "utf8")
      .trim()
      .split("\n"),
  );
  const games = lines.map((line) => line.split("\t")[2]?.match(/[a-hNBRQKO][^\s.]+/g) ?? []);
  const long = games.toSorted((a, b) => b.length - a.length).slice(0, count / 2);
  return [...long.map(fenAfter), ...newPositions(1).take(count / 2)];
}

function fenAfter(moves: readonly string[]): string {
  const game = Chess.default();
  for (const san of moves) {
    game.play(parseSan(game, san) ?? fail(`not a move: ${san}`));
  }
  return makeFen(game.toSetup());
}

function fail(message: string): never {
  throw new Error(message);
}
