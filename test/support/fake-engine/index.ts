import { fileURLToPath } from "node:url";
import { lazyDigestOf } from "../../../src/engine/digest.ts";
import type { EngineBackend, EngineBuild } from "../../../src/engine/engine.ts";
import { createChildProcess, type EngineCommand } from "../../../src/engine/uci/child-process.ts";
import { createUciSession } from "../../../src/engine/uci/session.ts";
import { defaultWatchTimes, type WatchTimes } from "../../../src/engine/uci/watch-times.ts";

/** What the fake engine can be told to do wrong. */
export type Misbehaviour =
  /** Never greets. */
  | "mute"
  /** Ends when it is to search. */
  | "exit"
  /** Prints a line, then hears nothing any more. */
  | "hang"
  /** Hears nothing any more when a new game begins. */
  | "stuck"
  /** Never says its best move, but hears and answers everything else. */
  | "go-on"
  /** Refuses every position as Stockfish 19 does. */
  | "refuse"
  /** Has no move. */
  | "no-move"
  /** Prints a line without an end. */
  | "flood"
  /** Keeps its hash when a new game begins. */
  | "remember";

export interface FakeEngineOptions {
  readonly misbehaviour?: Misbehaviour;
  /** What an iteration takes. */
  readonly iterationMs?: number;
  readonly times?: WatchTimes;
}

const file = fileURLToPath(new URL("fake-engine.ts", import.meta.url));

/** The fake engine as a backend, wired as the real ones are. */
export function createFakeBackend(options: FakeEngineOptions = {}): EngineBackend {
  const { times = defaultWatchTimes } = options;
  const build: EngineBuild = {
    id: "fake-1.0",
    name: "Fake 1.0",
    path: "native",
    family: "fake",
    version: "1.0",
    net: "full",
    license: undefined,
    selfTestNodes: undefined,
    settings: { hashMb: 16, threads: 1 },
    file,
    sha256: lazyDigestOf([file]),
    assertUnchanged: () => undefined,
  };
  return {
    path: "native",
    discover: async () => [build],
    start: async (started, signal) =>
      createUciSession(started, createChildProcess(commandOfFake(options)), times, signal),
  };
}

export function commandOfFake({ misbehaviour, iterationMs = 2 }: FakeEngineOptions = {}): EngineCommand {
  return { file: process.execPath, args: [file, misbehaviour ?? "none", String(iterationMs)] };
}
