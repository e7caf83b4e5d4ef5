import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { EngineBackend, EngineBuild } from "../../../src/engine/engine.ts";
import { defaultDepth } from "../../../src/engine/profiles.ts";
import { createChildProcess, type EngineCommand } from "../../../src/engine/uci/child-process.ts";
import { createUciSession } from "../../../src/engine/uci/session.ts";
import { defaultWatchTimes, type WatchTimes } from "../../../src/engine/uci/watch.ts";
import { options as callersOptions } from "../../engine/build-of.ts";
import { copyCheckout } from "../copy-checkout.ts";

export type Misbehaviour =
  /** Never responds to `uci`. */
  | "mute"
  /** Exits when it receives `go`. */
  | "exit"
  /** Prints one line, then reads no more input. */
  | "hang"
  /** Reads no more input when a new game begins after a search. */
  | "stuck"
  /** Never sends `bestmove`, but responds to every other command. */
  | "go-on"
  /** Prints `bestmove (none)`. */
  | "no-move"
  /** Prints one endless line. */
  | "flood"
  /** Keeps its hash when a new game begins. */
  | "remember"
  /** Responds to `uci`, but never to `isready`. */
  | "unready"
  /** Responds to `uci` after a second. */
  | "late"
  /** Exits with status 0 in the middle of a search. */
  | "exit-0"
  /** Prints endless lines during a search. */
  | "flood-lines"
  /** Searches correctly, but prints endless lines when idle. */
  | "flood-idle"
  /** Searches correctly, but writes endlessly to standard error. */
  | "flood-stderr"
  /** Writes its lines in pieces, with pauses between them. */
  | "half-lines"
  /** Prints half of a `bestmove` line, and nothing more. */
  | "half-answer"
  /** Closes its output in the middle of a search, and continues to run. */
  | "close-output"
  /** Closes its input in the middle of a search, and prints nothing more. */
  | "close-input"
  /** Sends `bestmove` twice, in one write. */
  | "twice"
  /** Sends `bestmove` again when idle. */
  | "twice-late"
  /** Prints an illegal best move. */
  | "illegal"
  /** Prints meaningless bytes before `bestmove`. */
  | "garbage"
  /** Ignores every signal that can be ignored, and the end of its input. */
  | "undying";

export interface FakeEngineOptions {
  /** The misbehaviour of the next engine. Every start reads this field. */
  readonly misbehaviour?: Misbehaviour | undefined;
  readonly iterationMs?: number;
  /** True if the engine passes the server's test of new engines. */
  readonly learned?: boolean;
  /** The name that the engine reports. Its first word decides the family. */
  readonly name?: string;
  readonly times?: WatchTimes;
}

const file = fileURLToPath(new URL("run.js", import.meta.url));

/** Creates a backend with the fake engine as its only build. Each engine runs in a process, as in the real backends. */
export function createFakeBackend(options: FakeEngineOptions = {}): EngineBackend {
  const { times = defaultWatchTimes } = options;
  const build: EngineBuild = {
    id: "fake-1.0",
    name: "Fake 1.0",
    path: "native",
    family: "unknown",
    version: "1.0",
    net: "full",
    license: undefined,
    deprecatedSince: undefined,
    reproducible: true,
    selfTestNodes: undefined,
    author: "nobody",
    options: callersOptions,
    linesMax: 256,
    settings: { hashMb: 16, threads: 1 },
    defaultLimit: { depth: defaultDepth, nodes: undefined },
    launch: undefined,
    unavailableReason: undefined,
    file,
    sha256: "f".repeat(64),
    assertUnchanged: async () => {},
    assertGenuine: async () => {},
  };
  return {
    path: "native",
    discover: async () => [build],
    start: async (started, signal) =>
      createUciSession(started.settings, createChildProcess(commandOfFake(options)), times, signal),
  };
}

/**
 * Returns a shell command that runs the fake engine. Copies Node and the engine into the folder, because engines may not read a
 * checkout that belongs to root. The first word of the name decides the family.
 */
export function fakeEngineCommandIn(folder: string, iterationMs = 2, name = "Fake 1.0"): string {
  return `${copiedCommand(folder, "run.js")} none ${iterationMs} learned "${name}"`;
}

function copiedCommand(folder: string, script: string): string {
  const engine = "test/support/fake-engine";
  const node = "node_modules/node/bin/node";
  const copy = copyCheckout(join(folder, "fake-engine"), ["package.json", engine, node, ...needed]);
  return `exec "${join(copy, node)}" "${join(copy, engine, script)}"`;
}

/**
 * Writes the file for `KIBITZ_ENGINES` into the folder, and returns its path. The engine `leela` behaves like Lc0, and has one
 * instance, so that each of its searches has another score. The engine `gone` is left out, because its command is missing.
 */
export function describeFakeLc0(folder: string): string {
  const command = join(folder, "lc0");
  writeFileSync(command, `#!/bin/sh\n${copiedCommand(folder, "fake-lc0.ts")} 0\n`, { mode: 0o755 });
  const file = join(folder, "engines.json");
  const engines = [
    { id: "leela", command, instances: 1 },
    { id: "gone", command: join(folder, "missing") },
  ];
  writeFileSync(file, JSON.stringify({ engines }));
  return file;
}

/** Returns a command that runs an engine that behaves like Lc0. Its first search takes `slowMs` longer. */
export function commandOfFakeLc0(slowMs = 0): EngineCommand {
  const script = fileURLToPath(new URL("fake-lc0.ts", import.meta.url));
  return { file: process.execPath, args: [script, String(slowMs)] };
}

const needed = ["node_modules/chessops", "node_modules/@badrap/result"];

export function commandOfFake({
  misbehaviour,
  iterationMs = 2,
  learned = false,
  name = "Fake 1.0",
}: FakeEngineOptions = {}): EngineCommand {
  const how = [misbehaviour ?? "none", String(iterationMs), learned ? "learned" : "simple", name];
  return { file: process.execPath, args: [file, ...how] };
}
