import { describe, expect, test } from "vitest";
import { createUciSession } from "../../src/engine/uci/session.ts";
import { defaultWatchTimes } from "../../src/engine/uci/watch.ts";
import { buildOf } from "./build-of.ts";
import { useClock, wait } from "./clock.ts";
import { jobOf } from "./job-of.ts";
import {
  expectCleaning,
  go,
  greetedScript,
  greeting,
  iteration,
  openScripted,
  position,
  script,
  turn,
} from "./scripted-session.ts";
import type { Script } from "./scripted-transport.ts";

const { startMs, startMsPerHashMb, silenceMs, stopMs, cleanMs } = defaultWatchTimes;
const forever = new AbortController().signal;

const start = (conversation: Script, build = buildOf(), signal = forever) =>
  createUciSession(build.settings, conversation, defaultWatchTimes, signal);

useClock();

async function searching(signal = forever) {
  const { session, conversation } = await openScripted();
  conversation.expect(position).expect(go);
  const search = session.search(jobOf(), signal);
  // Prevents an unhandled rejection before the test awaits the search.
  search.catch(() => {});
  await conversation.waitForCommand(go);
  return { session, conversation, search };
}

/** Returns a session after one search. The engine has not printed `readyok` after the search yet. */
async function cleaning() {
  const { session, conversation } = await openScripted();
  conversation.expect("setoption name Skill Level value 3").expect(position);
  conversation.expect(go, [iteration(14, "e2e4"), "bestmove e2e4"]);
  conversation.expect("setoption name Skill Level value 20").expect("ucinewgame").expect("isready");
  await session.search(jobOf({ options: { skill_level: 3 } }), forever);
  return { session, conversation, writes: () => conversation.writes.slice(3) };
}

describe("the greeting", () => {
  test("the start of an engine reads its name and the options that callers may set", async () => {
    const { session } = await openScripted();
    expect(session.info).toEqual({
      name: "Stockfish Scripted",
      author: "the script",
      linesMax: 256,
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
    expect([session.alive, session.state]).toEqual([true, "idle"]);
  });

  test("the start of an engine sends the configured threads and hash size if they differ from the defaults", async () => {
    const both = script()
      .expect("uci", greeting)
      .expect("setoption name Threads value 2")
      .expect("setoption name Hash value 64")
      .expect("setoption name UCI_ShowWDL value true")
      .expect("isready", ["readyok"]);
    await start(both, buildOf({ settings: { threads: 2, hashMb: 64 } }));
    expect(both.writes.map((lines) => lines.length)).toEqual([1, 4]);
  });

  test.each([
    ["the smallest size", "min 32 max 1024", ["setoption name Hash value 32"]],
    ["the largest size", "min 1 max 8", ["setoption name Hash value 8"]],
    ["its only size", "min 64 max 64", []],
  ])(
    "an engine that cannot take the configured hash size gets %s that it can take",
    async (_, bounds, sets) => {
      const names = ["id name Bare", `option name Hash type spin default 64 ${bounds}`, "uciok"];
      const bare = script().expect("uci", names);
      for (const set of sets) {
        bare.expect(set);
      }
      await start(bare.expect("isready", ["readyok"]));
    },
  );

  test("the start of an engine switches off its opening book, because moves of a book have no score", async () => {
    const names = ["id name Bare", "option name OwnBook type check default true", "uciok"];
    const bare = script().expect("uci", names).expect("setoption name OwnBook value false");
    await start(bare.expect("isready", ["readyok"]));
  });

  test("the start of an engine sends no option that the engine does not declare", async () => {
    const bare = script().expect("uci", ["id name Bare", "uciok"]).expect("isready", ["readyok"]);
    const session = await start(bare, buildOf({ settings: { threads: 4, hashMb: 256 } }));
    expect(session.info).toEqual({ name: "Bare", author: "", linesMax: 1, options: [] });
  });

  test("the start of an engine ignores unknown lines", async () => {
    const talkative = script()
      .expect("uci", ["Stockfish by the developers", "", "readyok", "id elo 3000", ...greeting])
      .expect("setoption name UCI_ShowWDL value true", ["No such option: nonsense"])
      .expect("isready", ["info string NNUE", "readyok"]);
    expect((await start(talkative)).info.name).toBe("Stockfish Scripted");
  });

  test.each([
    ["is silent", []],
    ["never prints uciok", ["id name Endless"]],
    ["never prints readyok", greeting],
  ])("a starting engine that %s is killed after the time limit", async (_, answer) => {
    const conversation = script().expect("uci", answer);
    if (answer.includes("uciok")) {
      conversation.expect("setoption name UCI_ShowWDL value true").expect("isready");
    }
    const failure = expect(start(conversation)).rejects.toMatchObject({ kind: "no_start" });
    await wait(startMs + startMsPerHashMb * buildOf().settings.hashMb - 1);
    expect(conversation.killed).toBe(false);
    await wait(1);
    await failure;
    expect(conversation.killed).toBe(true);
  });

  test("an engine with 4 GiB of hash may take 35 seconds to start", async () => {
    const slow = script()
      .expect("uci", greeting)
      .expect("setoption name Hash value 4096")
      .expect("setoption name UCI_ShowWDL value true")
      .expect("isready");
    const started = start(slow, buildOf({ settings: { threads: 1, hashMb: 4096 } }));
    await wait(35_000);
    expect(slow.killed).toBe(false);
    slow.say("readyok");
    expect((await started).state).toBe("idle");
  });

  test.each([
    ["ends before its first line", []],
    ["ends before uciok", ["id name Short"]],
    ["ends right after uciok", greeting],
  ])("a starting engine that %s is reported at once as not started", async (_, answer) => {
    const conversation = script().expect("uci", answer).thenHangUp();
    await expect(start(conversation)).rejects.toMatchObject({ kind: "no_start", cause: { kind: "exited" } });
    expect(conversation.killed).toBe(true);
  });

  test("a starting engine that prints too much is killed and reported as not started", async () => {
    const conversation = script().expect("uci", Array(20).fill("x".repeat(60_000)));
    await expect(start(conversation)).rejects.toMatchObject({ kind: "no_start", cause: { kind: "flooded" } });
    expect(conversation.killed).toBe(true);
  });

  test("an engine start that is aborted rejects with the abort reason, and the engine is killed", async () => {
    const conversation = script().expect("uci");
    const caller = new AbortController();
    const session = start(conversation, buildOf(), caller.signal);
    await conversation.waitForCommand("uci");
    caller.abort(new Error("enough"));
    await expect(session).rejects.toThrow("enough");
    expect(conversation.killed).toBe(true);
  });

  test("if the client disconnects before an engine start, the engine gets no command", async () => {
    const conversation = script();
    const gone = AbortSignal.abort(new Error("too late"));
    await expect(start(conversation, buildOf(), gone)).rejects.toThrow("too late");
    expect(conversation.killed).toBe(true);
  });

  // The client must get either a running engine, or its abort reason and no engine.
  test.each(Array.from({ length: 16 }, (_, steps) => steps))(
    "a client that disconnects %i event-loop steps after an engine start leaves no unused engine running",
    async (steps) => {
      const caller = new AbortController();
      const conversation = script().expect("uci", ["id name Bare", "uciok"]).expect("isready");
      const outcome = start(conversation, buildOf(), caller.signal).then(
        ({ alive }) => (alive ? "alive" : "dead"),
        (error) => `${error}, ${conversation.killed ? "killed" : "left running"}`,
      );
      await conversation.waitForCommand("isready");
      conversation.say("readyok");
      for (let step = 0; step < steps; step++) {
        await Promise.resolve();
      }
      caller.abort("left");
      expect(["alive", "left, killed"]).toContain(await outcome);
    },
  );

  test("an engine that has started keeps running if its client disconnects", async () => {
    const caller = new AbortController();
    const conversation = greetedScript();
    const session = await start(conversation, buildOf(), caller.signal);
    caller.abort();
    expect([session.alive, conversation.killed]).toEqual([true, false]);
  });
});

describe("cleaning", () => {
  test("the commands that reset an engine are sent in one write after the result, and readyok makes the engine idle", async () => {
    const { session, conversation, writes } = await cleaning();
    expect(writes()).toEqual([["setoption name Skill Level value 20", "ucinewgame", "isready"]]);
    expect(session.state).toBe("cleaning");
    conversation.say("readyok");
    await turn();
    expect(session.state).toBe("idle");
    expect(writes()).toHaveLength(1);
  });

  test("the time limit of a search begins after the reset of the engine", async () => {
    const { session, conversation } = await cleaning();
    const job = jobOf({ movetimeMs: 50 });
    const next = session.search(job, forever);
    await wait(cleanMs - 1);
    conversation.expect(position).expect("go depth 14 movetime 350", [iteration(3, "d2d4")]);
    conversation.say("readyok");
    await wait(49);
    expect(conversation.sent).not.toContain("stop");
    expectCleaning(conversation.expect("stop", ["bestmove d2d4"]));
    await wait(1);
    expect(await next).toMatchObject({ endedBy: "time", snapshot: { depth: 3, complete: true } });
  });

  test("an engine that prints a second bestmove for the previous search is killed, and the next search can be retried", async () => {
    const { session, conversation } = await cleaning();
    const next = session.search(jobOf(), forever);
    next.catch(() => {});
    conversation.say("bestmove e2e4");
    expect(await session.exited).toMatchObject({ kind: "protocol_error" });
    await expect(next).rejects.toMatchObject({ kind: "no_start", cause: { kind: "protocol_error" } });
  });

  test("the options of a search are sent even if the previous search had the same options", async () => {
    const set = (value: number) => `setoption name MultiPV value ${value}`;
    const lines = [iteration(14, "e2e4", "multipv 1 "), iteration(14, "d2d4", "multipv 2 ")];
    const { session, conversation } = await openScripted();
    for (let search = 0; search < 3; search++) {
      conversation
        .expect(set(2))
        .expect(position)
        .expect(go, [...lines, "bestmove e2e4"]);
      expectCleaning(conversation, set(1));
      await session.search(jobOf({ multipv: 2 }), forever);
    }
  });

  test("an answer to isready during a search, which comes only after the result, does not end the reset of an engine", async () => {
    const { session, conversation, search } = await searching();
    conversation.expect("isready");
    await wait(silenceMs);
    conversation.expect("ucinewgame").expect("isready");
    conversation.say(iteration(14, "e2e4"), "bestmove e2e4");
    await search;
    conversation.say("readyok");
    await turn();
    expect(session.state).toBe("cleaning");
    conversation.say("readyok");
    await turn();
    expect(session.state).toBe("idle");
  });

  test("a client that disconnects during the reset of an engine is let go at once, and the engine continues its reset", async () => {
    const { session, conversation, writes } = await cleaning();
    const caller = new AbortController();
    const next = session.search(jobOf(), caller.signal);
    await turn();
    caller.abort(new Error("no patience"));
    await expect(next).rejects.toThrow("no patience");
    expect([session.state, writes().length]).toEqual(["cleaning", 1]);
    await wait(stopMs + 1);
    conversation.say("readyok");
    await turn();
    expect([session.state, conversation.killed, writes().length]).toEqual(["idle", false, 1]);
  });

  // In some rounds the search has not begun yet, in others it has.
  test.each([0, 1, 2, 3, 4, 5, 6, 7, 8])(
    "an engine is not killed if a client disconnects %i event-loop steps after the reset",
    async (steps) => {
      const { session, conversation } = await cleaning();
      const caller = new AbortController();
      const next = session.search(jobOf(), caller.signal);
      next.catch(() => {});
      await turn();
      conversation.expect(position).expect(go).say("readyok");
      for (let step = 0; step < steps; step++) {
        await Promise.resolve();
      }
      if (session.state === "searching") {
        expectCleaning(conversation.expect("stop", ["bestmove d2d4"]))
          .expect(position)
          .expect(go);
      }
      caller.abort(new Error("left"));
      await expect(next).rejects.toThrow("left");
      await wait(10 * stopMs);
      expect([session.state, conversation.killed]).toEqual(["idle", false]);
      const again = session.search(jobOf(), forever);
      expectCleaning(conversation).say(iteration(14, "e2e4"), "bestmove e2e4");
      expect(await again).toMatchObject({ endedBy: "depth" });
    },
  );

  test("a search that waits for an endless reset can be retried on another engine", async () => {
    const { session, conversation } = await cleaning();
    await wait(cleanMs - 1);
    const next = session.search(jobOf(), forever);
    next.catch(() => {});
    await wait(1);
    expect(conversation.killed).toBe(true);
    expect(await session.exited).toMatchObject({ kind: "unresponsive" });
    await expect(next).rejects.toMatchObject({ kind: "no_start", cause: { kind: "unresponsive" } });
  });

  test("a searching engine does not accept a second search", async () => {
    const { session } = await searching();
    await expect(session.search(jobOf(), forever)).rejects.toThrow("searching");
    await session[Symbol.asyncDispose]();
  });
});

describe("an engine whose client has disconnected", () => {
  const left = async () => {
    const caller = new AbortController();
    const { session, conversation, search } = await searching(caller.signal);
    conversation.expect("stop");
    caller.abort(new Error("left"));
    return { session, conversation, search };
  };

  test("an engine that ignores the stop command after a disconnect is killed", async () => {
    const { conversation, search } = await left();
    await wait(stopMs - 1);
    expect(conversation.killed).toBe(false);
    await wait(1);
    expect(conversation.killed).toBe(true);
    await expect(search).rejects.toMatchObject({ kind: "overtime" });
  });

  // In some rounds the result has not reached the client yet, in others it has.
  test.each([1, 2, 3, 4, 5, 6, 7, 8])(
    "an engine gets no stop command if its client disconnects %i event-loop steps after bestmove",
    async (steps) => {
      const caller = new AbortController();
      const { session, conversation, search } = await searching(caller.signal);
      conversation.say(iteration(14, "e2e4"));
      await wait(0);
      expectCleaning(conversation).say("bestmove e2e4");
      for (let step = 0; step < steps; step++) {
        await Promise.resolve();
      }
      caller.abort(new Error("left"));
      expect(await search).toMatchObject({ bestMove: "e2e4" });
      await wait(10 * stopMs);
      expect(conversation.sent).not.toContain("stop");
      expect([conversation.killed, session.state]).toEqual([false, "idle"]);
    },
  );
});

describe("an engine that fails", () => {
  test.each([
    ["refuses the position", ["info string CRITICAL ERROR: Position not legal"], "CRITICAL ERROR"],
    ["has no move", [iteration(1, "e2e4"), "bestmove (none)"], "(none)"],
    ["returns an invalid move", [iteration(1, "e2e4"), "bestmove 0000"], "(none)"],
    ["returns an illegal move", [iteration(1, "e2e4"), "bestmove e2e5"], "e2e5"],
    ["prints a line with an illegal move", [iteration(1, "e7e5"), "bestmove e2e4"], "e7e5"],
    ["returns a move without a line", ["info depth 1 currmove e2e4", "bestmove e2e4"], "no line"],
  ])("an engine that %s is killed with a protocol error", async (_, lines, message) => {
    const { session, conversation, search } = await searching();
    conversation.say(...lines);
    await expect(search).rejects.toMatchObject({
      name: "EngineFailure",
      kind: "protocol_error",
      message: expect.stringContaining(message),
    });
    expect([conversation.killed, session.alive]).toEqual([true, false]);
    expect(await session.exited).toMatchObject({ kind: "protocol_error" });
  });

  test("an engine whose output ends during a search is reported as exited", async () => {
    const { session, conversation, search } = await searching();
    conversation.say(iteration(1, "e2e4"));
    conversation.hangUp();
    await expect(search).rejects.toMatchObject({ kind: "exited" });
    expect(await session.exited).toMatchObject({ kind: "exited" });
    expect(session.alive).toBe(false);
  });

  test("an engine that another process kills during a search is reported as killed and not as crashed", async () => {
    const { conversation, search } = await searching();
    conversation.hangUp("outside");
    await expect(search).rejects.toMatchObject({ kind: "killed", blamesPosition: false });
  });

  test("only the first failure of an engine is reported", async () => {
    const { session, conversation, search } = await searching();
    conversation.say("info string CRITICAL ERROR", "bestmove (none)", "bestmove e2e4");
    conversation.hangUp();
    await expect(search).rejects.toMatchObject({ kind: "protocol_error" });
    await session[Symbol.asyncDispose]();
    expect(await session.exited).toMatchObject({ kind: "protocol_error" });
  });

  test("an engine that exceeds the output limit during a search is killed", async () => {
    const { session, conversation, search } = await searching();
    conversation.say(...Array(20_000).fill(iteration(1, "e2e4")));
    await expect(search).rejects.toMatchObject({ kind: "flooded", blamesPosition: true });
    expect(await session.exited).toMatchObject({ kind: "flooded" });
  });

  test("an idle engine that exceeds the output limit is killed", async () => {
    const { session, conversation } = await openScripted();
    conversation.say(...Array(20_000).fill(iteration(1, "e2e4")));
    expect(await session.exited).toMatchObject({ kind: "flooded" });
    expect(conversation.killed).toBe(true);
  });

  test("an engine that prints a second bestmove is killed, and the client gets the first bestmove", async () => {
    const { session, conversation } = await openScripted();
    const twice = ["bestmove e2e4", "bestmove d2d4", iteration(15, "d2d4"), "bestmove (none)"];
    conversation.expect(position).expect(go, [iteration(14, "e2e4"), ...twice]);
    conversation.expect("ucinewgame").expect("isready");
    const depths: number[] = [];
    const answer = await session.search(jobOf(), forever, ({ snapshot }) => depths.push(snapshot.depth));
    expect(answer).toMatchObject({ bestMove: "e2e4", snapshot: { depth: 14 } });
    expect(await session.exited).toMatchObject({ kind: "protocol_error" });
    expect(depths).toEqual([14]);
  });

  test("an idle engine that prints a bestmove is killed, so that the next client does not get this move", async () => {
    const { session, conversation } = await openScripted();
    conversation.say("bestmove a2a3");
    expect(await session.exited).toMatchObject({ kind: "protocol_error" });
  });

  test("the end of an idle engine is reported", async () => {
    const { session, conversation } = await openScripted();
    conversation.hangUp();
    expect(await session.exited).toMatchObject({ kind: "exited" });
    expect(session.alive).toBe(false);
  });

  test("a search that begins after the end of an engine can be retried on another engine", async () => {
    const { session, conversation } = await openScripted();
    conversation.hangUp();
    while (session.alive) {
      await Promise.resolve();
    }
    await expect(session.search(jobOf(), forever)).rejects.toMatchObject({
      kind: "no_start",
      cause: { kind: "exited" },
    });
  });
});

describe("a session that is closed", () => {
  test("closing a session during a search stops the engine and rejects the search", async () => {
    const { session, conversation, search } = await searching();
    await session[Symbol.asyncDispose]();
    await expect(search).rejects.toMatchObject({ kind: "exited" });
    expect(conversation.killed).toBe(true);
    expect(await session.exited).toBeUndefined();
  });

  test("closing an idle session stops the engine, and a second close has no effect", async () => {
    const { session, conversation } = await openScripted();
    await Promise.all([session[Symbol.asyncDispose](), session[Symbol.asyncDispose]()]);
    await session[Symbol.asyncDispose]();
    expect(conversation.killed).toBe(true);
    expect(await session.exited).toBeUndefined();
  });

  test("a closed session rejects searches, which can be retried on another engine", async () => {
    const { session } = await openScripted();
    await session[Symbol.asyncDispose]();
    await expect(session.search(jobOf(), forever)).rejects.toMatchObject({ kind: "no_start" });
  });
});
