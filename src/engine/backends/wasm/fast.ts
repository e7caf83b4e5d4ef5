import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import { type EngineBuild, EngineFailure } from "../../engine.ts";
import { fingerprintFiles } from "../../file-integrity.ts";
import { profileOf } from "../../profiles.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { middleGame } from "../../self-test.ts";
import type { EngineCommand } from "../../uci/child-process.ts";
import type { UciTransport } from "../../uci/transport.ts";
import type { FastBuild } from "./builds.ts";

/** A build that the host may run. */
export interface WasmEngine extends EngineBuild {
  /** The argument of the host. Undefined if Node runs the build without a host. */
  readonly hosted?: string | undefined;
  /** Every file that the host reads. */
  readonly files?: readonly string[];
  /** Turns this object into the build without a host, and returns that build. */
  fallBack?(reason: string): WasmEngine;
}

const hostFiles = ["host.js", "thread.js", "permissions.js", "embedded-network.js"].map((name) =>
  join(import.meta.dirname, name),
);

/** `installed` are the files of the fast build: its JavaScript file and its `.wasm` module. `plain` contains the network. */
export async function createFastBuild(
  plain: EngineBuild,
  networkFile: string,
  { pin, network }: FastBuild,
  installed: readonly string[],
  sandbox: Sandbox,
): Promise<WasmEngine> {
  const own = await sandbox.ensureReadable(hostFiles);
  const [script = "", module = ""] = await sandbox.ensureReadable(installed);
  const hosted = JSON.stringify({
    module: script,
    pinned: [
      { file: script, sha256: pin.alongside },
      { file: module, sha256: pin.digested },
    ],
    networkFile,
    network,
    test: {
      fen: middleGame,
      depth: profileOf(plain.family).selfTest.limit.depth,
      nodes: plain.selfTestNodes,
    },
  });
  const files = [...own, script, module];
  const integrity = await fingerprintFiles(files);
  const sha256 = createHash("sha256").update(`${integrity.sha256} ${network.sha256}`).digest("hex");
  // The host itself checks the digests before it runs the module.
  const assertGenuine = async () => {};
  const fast = { ...plain, ...integrity, sha256, assertGenuine, file: own[0] ?? "" };
  return replaceable({ ...fast, hosted, files: [...files, networkFile] }, plain);
}

/** Returns `fast` until the call of `fallBack`, and then `plain`. The object stays the same, because the pool identifies builds by it. */
function replaceable(fast: WasmEngine, plain: EngineBuild): WasmEngine {
  let current = fast;
  return {
    ...fast,
    get file() {
      return current.file;
    },
    get sha256() {
      return current.sha256;
    },
    get hosted() {
      return current.hosted;
    },
    get slowerBecause() {
      return current.slowerBecause;
    },
    assertUnchanged: () => current.assertUnchanged(),
    assertGenuine: () => current.assertGenuine(),
    fallBack(slowerBecause) {
      current = { ...plain, slowerBecause };
      return current;
    },
  };
}

/**
 * Without these flags of V8, an engine takes 8 MB more. The flags do not slow the search, which is WebAssembly: 12 searches with
 * them and 12 without them took the same processor time.
 */
const memoryFlags = ["--v8-pool-size=1", "--max-semi-space-size=1", "--optimize-for-size", "--no-opt"];

/** Runs the host. The host may start threads and read the files, until the host has started the engine. */
export function commandOfHost(
  { file, files = [], hosted = "", settings }: Pick<WasmEngine, "file" | "files" | "hosted" | "settings">,
  sandbox: Sandbox,
): EngineCommand {
  const folders = [...new Set(files.map((each) => dirname(each)))];
  const permissions = ["--permission", "--allow-worker", ...folders.map((one) => `--allow-fs-read=${one}`)];
  const args = [...permissions, "--no-experimental-sqlite", ...memoryFlags, file, hosted];
  return sandbox.wrap({ file: sandbox.node, args }, settings, reservedMb);
}

/**
 * The expected memory in MiB without the hash table, of which the sandbox allows twice as much. Most of it is not used: Node reserves memory for
 * the code of three threads. Reserved are 2065 MiB with a hash table of 4 MiB, and 2925 MiB with 1024 MiB.
 */
const reservedMb = 1280;

const refusal = "info string refused: ";

/** Keeps the reason why the host refuses to run the engine. */
export function hearRefusal(transport: UciTransport): UciTransport & { refusal(): string | undefined } {
  let reason: string | undefined;
  return {
    ...transport,
    read: (receive) =>
      transport.read((line) => {
        if (line.startsWith(refusal)) {
          reason = line.slice(refusal.length);
        }
        receive(line);
      }),
    refusal: () => reason,
  };
}

/** True if the engine ended by itself while it started, because another start would end in the same way. */
export function endedAtStart(error: unknown): error is EngineFailure {
  return (
    error instanceof EngineFailure && error.cause instanceof EngineFailure && error.cause.kind === "exited"
  );
}
