import { onTestFinished } from "vitest";
import { createUciSession, type UciSession } from "../../src/engine/uci/session.ts";
import { defaultWatchTimes } from "../../src/engine/uci/watch.ts";
import { buildOf } from "./build-of.ts";
import { createScript, type Script } from "./scripted-transport.ts";

/** What the scripted engine declares: a Stockfish without the options that no test needs. */
export const greeting: readonly string[] = [
  "id name Scripted 1",
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

/** A script that the test must have followed to its end. */
export function script(): Script {
  const created = createScript();
  onTestFinished(async () => {
    // An engine is told to clean up a moment after its answer.
    await new Promise(setImmediate);
    created.assertDone();
  });
  return created;
}

/** The beginning of every conversation with the engine above. */
export function greetedScript(): Script {
  return script()
    .expect("uci", greeting)
    .expect("setoption name UCI_ShowWDL value true")
    .expect("isready", ["readyok"]);
}

/** A session at the end of its greeting, and the script that goes on from there. */
export async function openScripted(
  conversation: Script = greetedScript(),
): Promise<{ session: UciSession; conversation: Script }> {
  const { signal } = new AbortController();
  const session = await createUciSession(buildOf(), conversation, defaultWatchTimes, signal);
  return { session, conversation };
}
