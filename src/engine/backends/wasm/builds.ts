import type { EngineBuild } from "../../engine.ts";
import type { FileIntegrity, Pin } from "../../file-integrity.ts";
import { preferredFamily } from "../../profiles.ts";
import type { EmbeddedNetwork } from "./embedded-network.js";

export type WasmBuild = Omit<
  EngineBuild,
  | "path"
  | "settings"
  | "reproducible"
  | "defaultLimit"
  | "launch"
  | "unavailableReason"
  | "file"
  | "deprecatedSince"
  | keyof FileIntegrity
> & {
  /** The date of the release that deprecated this build. The build stays available for at least 90 days after this date. */
  readonly deprecatedSince?: `${number}-${number}-${number}`;
  /** `loader` is the path of the loader in the npm package. The `.wasm` module is in the same folder. */
  readonly package: string;
  readonly loader: string;
  /** The expected digests of the module and the loader. If a file has another digest, the build is not run. */
  readonly pin: Pin;
  /** A faster build of the same engine. Its answers are equal to the answers of this build. */
  readonly fast?: FastBuild;
};

/** A build with relaxed SIMD and without a network. The network comes from the WebAssembly module of the other build. */
export interface FastBuild {
  readonly package: string;
  /** The JavaScript file in the npm package. The `.wasm` module is in the same folder. */
  readonly module: string;
  readonly pin: Pin;
  readonly network: EmbeddedNetwork;
}

/** The fields that are equal in all builds. A test compares author and options with the values of the engines. */
const stockfish = {
  family: preferredFamily,
  license: "GPL-3.0-or-later",
  author: "the Stockfish developers (see AUTHORS file)",
  options: [
    { name: "skill_level", engineName: "Skill Level", kind: "integer", default: 20, minimum: 0, maximum: 20 },
    { name: "uci_limit_strength", engineName: "UCI_LimitStrength", kind: "boolean", default: false },
    { name: "uci_elo", engineName: "UCI_Elo", kind: "integer", default: 1320, minimum: 1320, maximum: 3190 },
    { name: "uci_chess960", engineName: "UCI_Chess960", kind: "boolean", default: false },
  ],
  linesMax: 256,
} as const;

/**
 * The builds, newest first. Two engines with one thread each are twice as fast as one engine with two threads.
 * To install an older version: `npm install stockfish-18@npm:stockfish@18.0.8`.
 */
export const wasmBuilds: readonly WasmBuild[] = [
  {
    ...stockfish,
    id: "stockfish-19",
    name: "Stockfish 19 WASM",
    version: "19",
    net: "full",
    selfTestNodes: 6130,
    package: "stockfish",
    loader: "bin/stockfish-19-single.js",
    pin: {
      digested: "8725c26572762617fd96b2ea83ff130e6640b85815890d682bf8c49db0820721",
      alongside: "72772f8bdd7353e4e24245d946bb831f56bcccf02fa16a779c1b92a6c00e5cc2",
    },
    fast: {
      package: "@lichess-org/stockfish-web",
      module: "sf_19_relaxed-simd.js",
      pin: {
        digested: "11ebe6bdbae23c4e2b8d665f55c4d13500dc110ce83755663ce6533e6bb36b1b",
        alongside: "706e0878fb6729306ba23fcc7e07dae2a7682b12265edcfe78d174e00fed7bbe",
      },
      network: {
        address: 36_144,
        bytes: 98_511_183,
        sha256: "1a298aa575a085434d29027978dc36867fe9c5bcea9376654b7a8eba1e52dfc2",
      },
    },
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
    pin: {
      digested: "57ac2d72312aba346760e3f173f687a8c211208e97a87268436f7f0e10bb5387",
      alongside: "d3344124ab067fb0b90ee77873bb8e9fbf5fc01bc525fe714b0f942581e889e6",
    },
    fast: {
      package: "@lichess-org/stockfish-web",
      module: "sf_19_smallnet_relaxed-simd.js",
      pin: {
        digested: "0cbff7c93fea769d022808ae0c54a121b8a27623a1e7d1e0262ec4d1431e2a7f",
        alongside: "70ad0fc795ae33a5c535870d33c6b3ab6c746e53df0939f91a47b91a51de12ce",
      },
      network: {
        address: 40_240,
        bytes: 1_166_381,
        sha256: "61e7af4bb97d51eeeb25d322916f86513b5cd3a827ce189c98c6e31946f99e5b",
      },
    },
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
    pin: {
      digested: "f611ac05ddb248fe975a4f180ac9fec7f7fb650f8f17f5fe4230fcc0fe6419c7",
      alongside: "ce07b916870473a837b598b9b558c125e24568624e47dabc3381474558ee201d",
    },
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
    pin: {
      digested: "a8fbc05ec6920b56d7485826dcb02c5ffd2826bcbf751cf973046f237a9096f1",
      alongside: "5243fd9b276cab7dfe3ad1d43ab9ead73568fac76468c614242977a210c4a391",
    },
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
    pin: {
      digested: "14b25e2973a52e6095ee0ce7283ce3ff776a5e56bfe393333fe0066f6ccd666e",
      alongside: "562a55d9189ad013f6c6c55b8d347a37f490ce9542a34abdb06ef56a72f9d1db",
    },
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
    pin: {
      digested: "7ca31bedd166148931a1cc84dbd8dd9cf001744e9994caf23a3c6ff4988d7086",
      alongside: "1c8265e52fdaef797684b4979b42c5dcfe0350df3e11a87e48e4ec5f86e0ca5c",
    },
  },
];
