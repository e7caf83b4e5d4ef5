import { onTestFinished } from "vitest";
import type { EngineSession } from "../../src/engine/engine.ts";
import { createUciSession } from "../../src/engine/uci/session.ts";
import { defaultWatchTimes } from "../../src/engine/uci/watch.ts";
import { startFen } from "../chess/validated.ts";
import { buildOf } from "./build-of.ts";
import { createScript, type Script } from "./scripted-transport.ts";

/** The output of Stockfish after the command `uci`. Options that the tests do not need are omitted. */
export const greeting: readonly string[] = [
  "id name Stockfish Scripted",
  "id author the script",
  "option name Debug Log File type string default <empty>",
  "option name Threads type spin default 1 min 1 max 1024",
  "option name Hash type spin default 16 min 1 max 33554432",
  "option name MultiPV type spin default 1 min 1 max 256",
  "option name Skill Level type spin default 20 min 0 max 20",
  "option name UCI_Chess960 type check default false",
  "option name UCI_ShowWDL type check default false",
  "uciok",
];

/** The commands that start the search of `jobOf()`. */
export const [position, go] = [`position fen ${startFen}`, "go depth 14 movetime 60300"];

/** Returns an `info` line that completes a depth. */
export const iteration = (depth: number, move: string, more = "") =>
  `info depth ${depth} seldepth ${depth + 2} score cp 30 wdl 80 900 20 nodes ${depth * 100} nps 1000 hashfull 1 tbhits 0 time ${depth} ${more}pv ${move}`;

/** Waits for one iteration of the event loop. */
export const turn = () => new Promise(setImmediate);

/** Creates a script. The test fails if steps of the script remain. */
export function script(): Script {
  const created = createScript();
  onTestFinished(() => created.assertDone());
  return created;
}

/** Creates a script with the commands and responses of an engine start. */
export function greetedScript(): Script {
  return script()
    .expect("uci", greeting)
    .expect("setoption name UCI_ShowWDL value true")
    .expect("isready", ["readyok"]);
}

/** Expects the commands that reset an engine after a search. */
export function expectCleaning(conversation: Script, ...resets: readonly string[]): Script {
  for (const reset of resets) {
    conversation.expect(reset);
  }
  return conversation.expect("ucinewgame").expect("isready", ["readyok"]);
}

/** Returns a session that has just started, and its script. The test can add further steps to the script. */
export async function openScripted(
  conversation: Script = greetedScript(),
): Promise<{ session: EngineSession; conversation: Script }> {
  const { signal } = new AbortController();
  const session = await createUciSession(buildOf().settings, conversation, defaultWatchTimes, signal);
  return { session, conversation };
}
