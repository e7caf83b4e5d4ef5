import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { EngineBackend, EngineBuild } from "../../../src/engine/engine.ts";
import { createChildProcess, type EngineCommand } from "../../../src/engine/uci/child-process.ts";
import { createUciSession } from "../../../src/engine/uci/session.ts";
import { defaultWatchTimes, type WatchTimes } from "../../../src/engine/uci/watch.ts";
import { options as callersOptions } from "../../engine/build-of.ts";
import { copyCheckout } from "../copy-checkout.ts";

/** Misbehaviours of the fake engine. */
export type Misbehaviour =
  /** Never greets. */
  | "mute"
  /** Ends when it is to search. */
  | "exit"
  /** Prints a line, then hears nothing any more. */
  | "hang"
  /** Hears nothing any more when a new game begins behind a search. */
  | "stuck"
  /** Never says its best move, but hears and answers everything else. */
  | "go-on"
  /** Has no move. */
  | "no-move"
  /** Prints a line without an end. */
  | "flood"
  /** Keeps its hash when a new game begins. */
  | "remember"
  /** Greets, but is never ready. */
  | "unready"
  /** Greets after a second. */
  | "late"
  /** Ends in the middle of a search, and calls it a success. */
  | "exit-0"
  /** Prints lines without an end while it searches. */
  | "flood-lines"
  /** Answers, and prints lines without an end when it is idle. */
  | "flood-idle"
  /** Complains without an end beside its answers. */
  | "flood-stderr"
  /** Writes its lines in pieces, with pauses between them. */
  | "half-lines"
  /** Writes half of its best move, and no more. */
  | "half-answer"
  /** Closes its output in the middle of a search, and lives on. */
  | "close-output"
  /** Closes its input in the middle of a search, and prints no more. */
  | "close-input"
  /** Says its best move twice, in one piece. */
  | "twice"
  /** Says its best move again when it is idle. */
  | "twice-late"
  /** Answers a move that is not legal. */
  | "illegal"
  /** Prints bytes that mean nothing before it answers. */
  | "garbage"
  /** Ignores every signal that can be ignored, and the end of its input. */
  | "undying";

export interface FakeEngineOptions {
  /** Asked at every start: an engine may be told to, and the next one not. */
  readonly misbehaviour?: Misbehaviour | undefined;
  /** Duration of one iteration. */
  readonly iterationMs?: number;
  /** Passes the test by which a server trusts engines that it finds. */
  readonly learned?: boolean;
  readonly times?: WatchTimes;
}

const file = fileURLToPath(new URL("run.js", import.meta.url));

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
    deprecatedSince: undefined,
    reproducible: true,
    selfTestNodes: undefined,
    author: "nobody",
    options: callersOptions,
    settings: { hashMb: 16, threads: 1 },
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
 * The fake engine as a shell command, for scripts that a server finds as native engines. With a Node and files of its
 * own, in a folder that is made for them: where this checkout is root's alone, engines may not read it.
 */
export function fakeEngineCommandIn(folder: string, iterationMs = 2): string {
  const engine = "test/support/fake-engine";
  const node = "node_modules/node/bin/node";
  const copy = copyCheckout(join(folder, "fake-engine"), ["package.json", engine, node, ...needed]);
  return `exec "${join(copy, node)}" "${join(copy, engine, "run.js")}" none ${iterationMs} learned`;
}

/** The packages that the fake engine imports. */
const needed = ["node_modules/chessops", "node_modules/@badrap/result"];

export function commandOfFake({
  misbehaviour,
  iterationMs = 2,
  learned = false,
}: FakeEngineOptions = {}): EngineCommand {
  const how = [misbehaviour ?? "none", String(iterationMs), ...(learned ? ["learned"] : [])];
  return { file: process.execPath, args: [file, ...how] };
}
