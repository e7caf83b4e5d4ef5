import { createNativeBackend } from "../../src/engine/backends/native/index.ts";
import { noCage } from "../../src/engine/cage/cage.ts";
import { silentLog } from "../../src/log/log.ts";
import { testBackend } from "../contract/backend.ts";
import { nativeStockfish } from "../support/native-stockfish.ts";
import { describeWith } from "../support/needs.ts";

const file = nativeStockfish();

describeWith("native")("on this machine", () => {
  const where = { files: [file ?? ""], searchPath: "" };
  testBackend(
    "native Stockfish",
    (times) => createNativeBackend({ hashMb: 16, threads: 1 }, where, noCage, silentLog, times),
    { pickBuild: ([build]) => build, depth: 12 },
  );
});
