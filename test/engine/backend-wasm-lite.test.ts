import { createWasmBackend } from "../../src/engine/backends/wasm/index.ts";
import { noCage } from "../../src/engine/cage/cage.ts";
import { testBackend } from "../contract/backend.ts";

const settings = { hashMb: 16, threads: 1 };

testBackend("WebAssembly, lite network", (times) => createWasmBackend(settings, noCage, times), {
  pickBuild: (builds) => builds.find(({ net }) => net === "lite"),
  depth: 10,
});
