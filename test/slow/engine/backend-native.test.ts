import { createNativeBackend } from "../../../src/engine/backends/native/index.ts";
import { noSandbox } from "../../../src/engine/sandbox/sandbox.ts";
import { silentLog } from "../../../src/log/log.ts";
import { testBackend } from "../../contract/backend.ts";
import { nativeStockfish } from "../../support/native-stockfish.ts";
import { describeWith } from "../../support/needs.ts";

const file = nativeStockfish();

describeWith("native")("the native engine of this machine", () => {
  const where = { files: [file ?? ""], searchPath: "" };
  testBackend(
    "Native Stockfish",
    (times) => createNativeBackend({ hashMb: 16, threads: 1 }, where, noSandbox, silentLog, times),
    { pickBuild: ([build]) => build, depth: 10 },
  );
});
