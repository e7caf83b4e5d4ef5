/**
 * A process that has engines and does not look after them: it starts one of each kind, has them idle or
 * searching, says so, and waits to be killed.
 */
import { createNativeBackend } from "../../src/engine/backends/native/index.ts";
import { createWasmBackend } from "../../src/engine/backends/wasm/index.ts";
import { silentLog } from "../../src/log.ts";
import { nativeStockfish } from "../support/native-stockfish.ts";
import { jobOf, underWay } from "./job-of.ts";

const settings = { hashMb: 16, threads: 1 };
const forever = new AbortController().signal;
const file = nativeStockfish();
const where = { files: file === undefined ? [] : [file], searchPath: "" };

for (const backend of [createWasmBackend(settings), createNativeBackend(settings, where, silentLog)]) {
  for (const build of await backend.discover(forever)) {
    if (backend.path === "wasm" && build.net !== "lite") {
      continue;
    }
    const session = await backend.start(build, forever);
    if (process.argv[2] === "searching") {
      await underWay((onProgress) => session.search(jobOf({ depth: 245 }), forever, onProgress));
    }
  }
}
console.log("ready");
setInterval(() => {}, 60_000);
