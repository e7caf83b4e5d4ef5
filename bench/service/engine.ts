import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { discoverWasm } from "../../src/engine/backends/wasm/discover.ts";
import { commandOfWasm } from "../../src/engine/backends/wasm/index.ts";
import type { EnginePath } from "../../src/engine/engine.ts";
import { identityFromName } from "../../src/engine/profiles.ts";
import { noSandbox } from "../../src/engine/sandbox/sandbox.ts";
import type { EngineCommand } from "../../src/engine/uci/child-process.ts";
import { settings } from "../../src/wiring/settings.ts";
import { copyCheckout } from "../../test/support/copy-checkout.ts";
import { nativeStockfish } from "../../test/support/native-stockfish.ts";
import { makeDataFolder } from "../data-folder.ts";

/** The hash table size of all compared services, in MiB. */
export const hashMb = settings.hashMb.default();

export interface BenchEngine {
  readonly path: EnginePath;
  readonly id: string;
  readonly name: string;
  readonly sha256: string;
  readonly command: EngineCommand;
}

export async function nativeEngine(file = nativeStockfish()): Promise<BenchEngine> {
  if (file === undefined) {
    throw new Error("no native Stockfish (Debian: apt-get install stockfish)");
  }
  const name = await nameOf(file);
  const id = identityFromName(name)?.id;
  if (id === undefined) {
    throw new Error(`${file} has no name that can be an id: ${name}`);
  }
  const sha256 = createHash("sha256").update(readFileSync(file)).digest("hex");
  return { path: "native", id, name, sha256, command: { file, args: [] } };
}

export async function wasmEngine(): Promise<BenchEngine> {
  const [build] = await discoverWasm({ hashMb, threads: 1 }, noSandbox);
  if (build === undefined) {
    throw new Error("no WebAssembly engine is installed");
  }
  const { id, name, sha256 } = build;
  return { path: "wasm", id, name, sha256, command: commandOfWasm(build, noSandbox) };
}

/** Copies the engine and Node to a temporary folder, because the engine process possibly cannot read the checkout. */
export async function atOnceEngine(): Promise<BenchEngine> {
  const folder = makeDataFolder();
  chmodSync(folder, 0o755);
  const program = "bench/service/at-once-engine.ts";
  const node = "node_modules/node/bin/node";
  const copy = copyCheckout(join(folder, "at-once"), [
    "package.json",
    program,
    node,
    "node_modules/chessops",
    "node_modules/@badrap/result",
  ]);
  const file = join(folder, "at-once-engine");
  writeFileSync(file, `#!/bin/sh\nexec "${join(copy, node)}" "${join(copy, program)}"\n`, { mode: 0o755 });
  return nativeEngine(file);
}

async function nameOf(file: string): Promise<string> {
  const engine = spawn(file, { stdio: ["pipe", "pipe", "ignore"] });
  engine.stdin.write("uci\n");
  for await (const line of createInterface(engine.stdout)) {
    if (line.startsWith("id name ")) {
      engine.kill("SIGKILL");
      await once(engine, "exit");
      return line.slice("id name ".length);
    }
  }
  throw new Error(`${file} speaks no UCI`);
}
