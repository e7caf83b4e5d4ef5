import type { EngineBuild } from "../../engine.ts";
import type { Seal } from "../../seal.ts";

type Row = Omit<EngineBuild, "path" | "settings" | "file" | keyof Seal> & {
  /** The npm package that carries the build, and the loader in it. The module lies beside it, `.wasm`. */
  readonly package: string;
  readonly loader: string;
};

const stockfish = { family: "stockfish", license: "GPL-3.0-or-later" } as const;

/**
 * The WebAssembly builds, newest first; those are there whose package is installed. Only
 * single-threaded ones: a multi-threaded build pays 33 ms for every new game, and two engines of one
 * thread do twice the work of one engine of two.
 *
 * An older version is an alias install away: `npm install stockfish-18@npm:stockfish@18.0.8`.
 */
export const wasmBuilds: readonly Row[] = [
  {
    ...stockfish,
    id: "stockfish-19",
    name: "Stockfish 19 WASM",
    version: "19",
    net: "full",
    selfTestNodes: 6130,
    package: "stockfish",
    loader: "bin/stockfish-19-single.js",
  },
  {
    ...stockfish,
    id: "stockfish-19-lite",
    name: "Stockfish 19 Lite WASM",
    version: "19",
    net: "lite",
    selfTestNodes: 4735,
    package: "stockfish",
    loader: "bin/stockfish-19-lite-single.js",
  },
  {
    ...stockfish,
    id: "stockfish-18",
    name: "Stockfish 18 WASM",
    version: "18",
    net: "full",
    selfTestNodes: 4287,
    package: "stockfish-18",
    loader: "bin/stockfish-18-single.js",
  },
  {
    ...stockfish,
    id: "stockfish-18-lite",
    name: "Stockfish 18 Lite WASM",
    version: "18",
    net: "lite",
    selfTestNodes: 12_515,
    package: "stockfish-18",
    loader: "bin/stockfish-18-lite-single.js",
  },
  {
    ...stockfish,
    id: "stockfish-17.1",
    name: "Stockfish 17.1 WASM",
    version: "17.1",
    net: "full",
    selfTestNodes: 4392,
    package: "stockfish-17.1",
    loader: "src/stockfish-17.1-single-a496a04.js",
  },
  {
    ...stockfish,
    id: "stockfish-17.1-lite",
    name: "Stockfish 17.1 Lite WASM",
    version: "17.1",
    net: "lite",
    selfTestNodes: 7173,
    package: "stockfish-17.1",
    loader: "src/stockfish-17.1-lite-single-03e3232.js",
  },
];
