/**
 * A program that starts one engine of each kind and does not stop the engines. The argument is the state of the engines:
 * `searching`, `unstoppable` (an endless search in a sandbox), or any other word for idle engines. The program prints `ready`
 * and then waits to be killed.
 */

import { setTimeout } from "node:timers/promises";
import { createNativeBackend } from "../../src/engine/backends/native/index.ts";
import { createWasmBackend } from "../../src/engine/backends/wasm/index.ts";
import { createSandbox, noSandbox } from "../../src/engine/sandbox/sandbox.ts";
import { silentLog } from "../../src/log/log.ts";
import { nativeStockfish } from "../support/native-stockfish.ts";
import { jobOf, underWay } from "./job-of.ts";
import { unstoppable } from "./unstoppable.ts";

const settings = { hashMb: 16, threads: 1 };
const forever = new AbortController().signal;
const file = nativeStockfish();
const where = { files: file === undefined ? [] : [file], searchPath: "" };

const state = process.argv[2];
const sandbox =
  state === "unstoppable" ? await createSandbox({ userName: undefined, hide: "/nowhere" }) : noSandbox;

for (const backend of [
  createWasmBackend(settings, sandbox),
  createNativeBackend(settings, where, sandbox, silentLog),
]) {
  for (const build of await backend.discover(forever)) {
    if (backend.path === "wasm" && build.net !== "lite") {
      continue;
    }
    const session = await backend.start(build, forever);
    if (state === "searching") {
      await underWay((onProgress) => session.search(jobOf({ depth: 245 }), forever, onProgress));
    }
    if (state === "unstoppable") {
      session.search(jobOf({ fen: unstoppable, depth: 30 }), forever, () => {}).catch(() => {});
      await setTimeout(500);
    }
  }
}
console.log("ready");
setInterval(() => {}, 60_000);
