import { createNativeBackend } from "../../src/engine/backends/native/index.ts";
import { createWasmBackend } from "../../src/engine/backends/wasm/index.ts";
import { noSandbox } from "../../src/engine/sandbox/sandbox.ts";
import { silentLog } from "../../src/log/log.ts";
import { testBackendTimes } from "../contract/backend-times.ts";
import { nativeStockfish } from "../support/native-stockfish.ts";
import { describeWith } from "../support/needs.ts";

const settings = { hashMb: 16, threads: 1 };
const wasm = createWasmBackend(settings, noSandbox);

testBackendTimes("Stockfish as WebAssembly with the lite network", wasm, ({ net }) => net === "lite");
testBackendTimes("Stockfish as WebAssembly with the full network", wasm, ({ net }) => net === "full");

describeWith("native")("on this machine", () => {
  const where = { files: [nativeStockfish() ?? ""], searchPath: "" };
  testBackendTimes(
    "Native Stockfish",
    createNativeBackend(settings, where, noSandbox, silentLog),
    () => true,
  );
});
