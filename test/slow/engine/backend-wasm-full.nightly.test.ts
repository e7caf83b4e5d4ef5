import { createWasmBackend } from "../../../src/engine/backends/wasm/index.ts";
import { noSandbox } from "../../../src/engine/sandbox/sandbox.ts";
import { testBackend } from "../../contract/backend.ts";

const settings = { hashMb: 16, threads: 1 };

testBackend(
  "Stockfish as WebAssembly with the full network",
  (times) => createWasmBackend(settings, noSandbox, times),
  {
    pickBuild: (builds) => builds.find(({ net }) => net === "full"),
    depth: 9,
  },
);
