import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createUciSession } from "../../src/engine/uci/session.ts";
import { defaultWatchTimes } from "../../src/engine/uci/watch.ts";
import { buildOf } from "./build-of.ts";
import { giveClockBack, openTimers, takeClock, wait } from "./clock.ts";
import { greetedScript, greeting, openScripted, script } from "./scripted-session.ts";
import type { Script } from "./scripted-transport.ts";

const start = (conversation: Script, build = buildOf(), signal = new AbortController().signal) =>
  createUciSession(build, conversation, defaultWatchTimes, signal);

describe("the greeting", () => {
  test("the greeting learns the name of the engine, and the options that callers may set", async () => {
    const { session } = await openScripted();
    expect(session.info).toEqual({
      name: "Scripted 1",
      author: "the script",
      options: [
        {
          name: "skill_level",
          engineName: "Skill Level",
          kind: "integer",
          default: 20,
          minimum: 0,
          maximum: 20,
        },
        { name: "uci_chess960", engineName: "UCI_Chess960", kind: "boolean", default: false },
      ],
    });
    expect(session.alive).toBe(true);
  });

  test("the greeting sets the operator's options, threads before hash, and only if they differ from the default", async () => {
    const both = script()
      .expect("uci", greeting)
      .expect("setoption name Threads value 2")
      .expect("setoption name Hash value 64")
      .expect("setoption name UCI_ShowWDL value true")
      .expect("isready", ["readyok"]);
    await start(both, buildOf({ settings: { threads: 2, hashMb: 64 } }));
    const [, settings = []] = both.writes;
    expect(both.writes).toEqual([["uci"], settings]);
    expect(settings).toHaveLength(4);
  });

  test("the greeting sets no option that the engine does not declare", async () => {
    const bare = script().expect("uci", ["id name Bare", "uciok"]).expect("isready", ["readyok"]);
    const session = await start(bare, buildOf({ settings: { threads: 4, hashMb: 256 } }));
    expect(session.info).toEqual({ name: "Bare", author: "", options: [] });
  });

  test("the greeting ignores other lines of an engine", async () => {
    const talkative = script()
      .expect("uci", ["Stockfish by the developers", "", "info string hello", "id elo 3000", ...greeting])
      .expect("setoption name UCI_ShowWDL value true", ["No such option: nonsense"])
      .expect("isready", ["info string NNUE", "readyok"]);
    expect((await start(talkative)).info.name).toBe("Scripted 1");
  });
});

describe("an engine that does not start", () => {
  beforeEach(takeClock);
  afterEach(giveClockBack);

  test.each([
    ["is silent", script, []],
    ["greets without an end", script, ["id name Endless"]],
    ["never gets ready", script, greeting],
  ])("an engine that %s is killed after the time for starting", async (_, create, answer) => {
    const conversation = create().expect("uci", answer);
    if (answer.includes("uciok")) {
      conversation.expect("setoption name UCI_ShowWDL value true").expect("isready");
    }
    const failure = expect(start(conversation)).rejects.toMatchObject({ kind: "no_start" });
    await wait(defaultWatchTimes.startMs);
    await failure;
    expect(conversation.killed).toBe(true);
    expect(openTimers()).toBe(0);
  });

  test.each([
    ["before a word", []],
    ["in the middle", ["id name Short"]],
    ["right after its greeting", greeting],
  ])("an engine that ends %s is reported at once", async (_, answer) => {
    const conversation = script().expect("uci", answer).thenHangUp();
    await expect(start(conversation)).rejects.toMatchObject({ kind: "no_start" });
    expect(conversation.killed).toBe(true);
    expect(openTimers()).toBe(0);
  });
});

describe("a caller that leaves during the greeting", () => {
  test("a caller that leaves during the greeting gets its own abort reason, and the engine is gone", async () => {
    const conversation = script().expect("uci");
    const caller = new AbortController();
    const session = start(conversation, buildOf(), caller.signal);
    await conversation.told("uci");
    caller.abort(new Error("enough"));
    await expect(session).rejects.toThrow("enough");
    expect(conversation.killed).toBe(true);
  });

  test("a caller that leaves before the greeting began starts nothing", async () => {
    const conversation = script();
    await expect(start(conversation, buildOf(), AbortSignal.abort(new Error("too late")))).rejects.toThrow(
      "too late",
    );
    expect(conversation.killed).toBe(true);
  });

  // Wherever the greeting is in its last steps: the caller has a living engine, or its reason and no engine.
  test.each(Array.from({ length: 16 }, (_, steps) => steps))(
    "a caller that leaves %i steps after the last line of the greeting harms nothing",
    async (steps) => {
      const caller = new AbortController();
      const conversation = script().expect("uci", ["id name Bare", "uciok"]).expect("isready");
      const outcome = start(conversation, buildOf(), caller.signal).then(
        ({ alive }) => (alive ? "alive" : "dead"),
        (error) => `${error}, ${conversation.killed ? "killed" : "left running"}`,
      );
      await conversation.told("isready");
      conversation.say("readyok");
      for (let step = 0; step < steps; step++) {
        await Promise.resolve();
      }
      caller.abort("left");
      expect(["alive", "left, killed"]).toContain(await outcome);
    },
  );

  test("a caller that leaves after the greeting was over leaves the engine alone", async () => {
    const caller = new AbortController();
    const conversation = greetedScript();
    const session = await start(conversation, buildOf(), caller.signal);
    caller.abort();
    expect(session.alive).toBe(true);
    expect(conversation.killed).toBe(false);
  });
});
