import type { EngineBuild } from "../../engine.ts";

type Row = Omit<EngineBuild, "path" | "settings" | "file" | "sha256"> & {
  /** The npm package that carries the build, and the loader in it. The module lies beside it as `.wasm`. */
  readonly package: string;
  readonly loader: string;
};

/**
 * The WebAssembly builds, newest first. Only single-threaded ones: a multi-threaded build pays 33 ms
 * for every new game, and two engines of one thread do twice the work of one engine of two.
 */
export const wasmBuilds: readonly Row[] = [
  {
    id: "stockfish-19",
    name: "Stockfish 19 WASM",
    family: "stockfish",
    version: "19",
    net: "full",
    license: "GPL-3.0-or-later",
    package: "stockfish",
    loader: "bin/stockfish-19-single.js",
  },
  {
    id: "stockfish-19-lite",
    name: "Stockfish 19 Lite WASM",
    family: "stockfish",
    version: "19",
    net: "lite",
    license: "GPL-3.0-or-later",
    package: "stockfish",
    loader: "bin/stockfish-19-lite-single.js",
  },
];
