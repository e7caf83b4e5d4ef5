import { getEventListeners } from "node:events";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { SearchDone } from "../../src/engine/engine.ts";
import { defaultWatchTimes } from "../../src/engine/uci/watch.ts";
import { createFakeBackend } from "../support/fake-engine/index.ts";
import { buildOf } from "./build-of.ts";
import { useClock, wait } from "./clock.ts";
import { eventsOf, jobOf, underWay } from "./job-of.ts";
import { expectCleaning, go, iteration, openScripted, position, script, turn } from "./scripted-session.ts";

const { silenceMs, unresponsiveMs, marginMs, stopMs } = defaultWatchTimes;
const forever = new AbortController().signal;
const firstLine = "info depth 1 score cp 30 time 1 pv e2e4";

async function searchOf(
  fields: Parameters<typeof jobOf>[0],
  goLine: string,
  ...lines: readonly string[]
): Promise<SearchDone> {
  const { session, conversation } = await openScripted();
  conversation.expect(position).expect(goLine, lines);
  expectCleaning(conversation);
  return session.search(jobOf(fields), forever);
}

/** Starts a search with a time limit. The fake engine prints nothing until the test adds lines. */
async function searching(movetimeMs = 60_000, signal = forever) {
  const { session, conversation } = await openScripted();
  const goLine = `go depth 14 movetime ${movetimeMs + marginMs}`;
  conversation.expect(position).expect(goLine);
  const outcome = { settled: false };
  const depths: number[] = [];
  const search = session
    .search(jobOf({ movetimeMs }), signal, ({ snapshot }) => depths.push(snapshot.depth))
    .finally(() => {
      outcome.settled = true;
    });
  // Prevents an unhandled rejection before the test awaits the search.
  search.catch(() => {});
  await conversation.waitForCommand(goLine);
  return { session, conversation, search, outcome, depths };
}

describe("a search", () => {
  test("a search sends the position and its limits, and reports snapshots and then one result", async () => {
    const { session, conversation } = await openScripted();
    const lines = [iteration(13, "e2e4 e7e5"), iteration(14, "e2e4 c7c5"), "bestmove e2e4 ponder c7c5"];
    conversation.expect(position).expect(go, lines);
    expectCleaning(conversation);
    const events = await eventsOf(session, jobOf(), forever);
    expect(events.map(({ kind, snapshot }) => [kind, snapshot.depth])).toEqual([
      ["progress", 13],
      ["progress", 14],
      ["done", 14],
    ]);
    expect(events.at(-1)).toEqual({
      kind: "done",
      bestMove: "e2e4",
      ponder: "c7c5",
      endedBy: "depth",
      snapshot: {
        depth: 14,
        complete: true,
        lines: [
          {
            depth: 14,
            seldepth: 16,
            score: {
              value: { kind: "cp", cp: 30 },
              bound: "exact",
              wdl: { win: 80, draw: 900, loss: 20 },
            },
            moves: ["e2e4", "c7c5"],
          },
        ],
        counters: { nodes: 1400, nps: 1000, timeMs: 14, hashfull: 1, tbhits: 0 },
      },
    });
  });

  test("a search returns the same result with and without a progress callback", async () => {
    const done = await searchOf({}, go, iteration(13, "d2d4"), iteration(14, "e2e4"), "bestmove e2e4");
    expect(done).toMatchObject({ bestMove: "e2e4", endedBy: "depth", snapshot: { depth: 14 } });
  });

  test("a search sends the history as a root position and moves, so that the engine detects repetitions", async () => {
    const { session, conversation } = await openScripted();
    conversation
      .expect(`${position} moves g1f3 g8f6 f3g1 f6g8`)
      .expect(go, [iteration(14, "e2e4"), "bestmove e2e4"]);
    expectCleaning(conversation);
    await session.search(jobOf({ moves: ["g1f3", "g8f6", "f3g1", "f6g8"] }), forever);
  });

  test("a search reports each complete snapshot, even if many lines arrive together", async () => {
    const { conversation, search, depths } = await searching();
    expect(depths).toEqual([]);
    conversation.say(iteration(1, "e2e4"));
    await turn();
    expect(depths).toEqual([1]);
    expectCleaning(conversation);
    conversation.say(...Array.from({ length: 12 }, (_, at) => iteration(at + 2, "d2d4")), "bestmove d2d4");
    expect(await search).toMatchObject({ snapshot: { depth: 13 }, endedBy: "time", ponder: undefined });
    expect(depths).toEqual(Array.from({ length: 13 }, (_, at) => at + 1));
  });

  test("a search sets its options before the search and resets them after the result", async () => {
    const { session, conversation } = await openScripted();
    const lines = [iteration(14, "e2e4", "multipv 1 "), iteration(14, "d2d4", "multipv 2 ")];
    conversation
      .expect("setoption name Skill Level value 3")
      .expect("setoption name MultiPV value 2")
      .expect(position)
      .expect(go, [...lines, "bestmove d2d4"]);
    expectCleaning(conversation, "setoption name Skill Level value 20", "setoption name MultiPV value 1");
    const weak = jobOf({ multipv: 2, options: { skill_level: 3, uci_chess960: false } });
    const { snapshot, bestMove } = await session.search(weak, forever);
    expect(snapshot.lines.map(({ moves }) => moves[0])).toEqual(["e2e4", "d2d4"]);
    expect(bestMove).toBe("d2d4");
  });

  test("a search enables Chess960 for a Chess960 position and disables it afterwards", async () => {
    const { session, conversation } = await openScripted();
    const job = jobOf({ fen: "4k3/8/8/8/8/8/8/RK5R w HA - 0 1", chess960: true });
    conversation
      .expect("setoption name UCI_Chess960 value true")
      .expect(`position fen ${job.position.root}`)
      .expect(go, [iteration(14, "b1h1"), "bestmove b1h1"]);
    expectCleaning(conversation, "setoption name UCI_Chess960 value false");
    expect((await session.search(job, forever)).bestMove).toBe("b1h1");
  });

  test("a search sends no option that the engine does not declare", async () => {
    const bare = script().expect("uci", ["id name Bare", "uciok"]).expect("isready", ["readyok"]);
    bare.expect(position).expect(go, [iteration(14, "e2e4"), "bestmove e2e4"]);
    const { session } = await openScripted(expectCleaning(bare));
    const options = { skill_level: 3 };
    expect((await session.search(jobOf({ multipv: 2, options }), forever)).bestMove).toBe("e2e4");
  });

  test("a search sends only options that callers may set and that differ from the default", async () => {
    const options = { skill_level: 20, uci_chess960: false, uci_elo: 1500, "Debug Log File": 1 };
    await searchOf({ options }, go, iteration(14, "e2e4"), "bestmove e2e4");
  });
});

describe("the limits of a search", () => {
  test("a search reports that the depth limit ended the search only if the requested depth is complete", async () => {
    const bound = "info depth 14 score cp 30 upperbound time 9 pv e2e4";
    expect(await searchOf({}, go, bound, "bestmove e2e4")).toMatchObject({
      endedBy: "time",
      snapshot: { depth: 14, complete: false },
    });
  });

  test("a search sends all its limits before the list of moves to search", async () => {
    const done = await searchOf(
      { depth: 20, nodes: 5000, searchMoves: ["d2d4", "e2e4"] },
      "go depth 20 nodes 5000 movetime 60300 searchmoves d2d4 e2e4",
      iteration(13, "e2e4 e7e5"),
      iteration(14, "d2d4"),
      "bestmove e2e4",
    );
    expect(done).toMatchObject({ endedBy: "nodes", snapshot: { depth: 14 } });
  });

  test.each([
    ["until the node limit, even if the engine does not print the final count", 40, "nodes"],
    ["to the maximum depth", 245, "depth"],
  ])("a search without a depth limit continues %s", async (_, depth, endedBy) => {
    const limits = { depth: undefined, nodes: 100_000 };
    const done = await searchOf(
      limits,
      "go nodes 100000 movetime 60300",
      iteration(depth, "e2e4"),
      "bestmove e2e4",
    );
    expect(done).toMatchObject({ endedBy, snapshot: { depth } });
  });

  test.each([
    ["prints", [iteration(1, "g1f3")]],
    ["returns", [iteration(1, "e2e4"), "bestmove d2d4"]],
  ])("a search fails if the engine %s a move outside searchmoves", async (_, lines) => {
    const { session, conversation } = await openScripted();
    conversation.expect(position).expect(`${go} searchmoves e2e4`, lines);
    await expect(session.search(jobOf({ searchMoves: ["e2e4"] }), forever)).rejects.toMatchObject({
      kind: "protocol_error",
      message: expect.stringMatching(/^(g1f3|d2d4) is not legal in .*, or none of e2e4$/),
    });
  });

  test("a search with searchmoves requests at most one line for each allowed move", async () => {
    const { session, conversation } = await openScripted();
    const lines = [iteration(14, "e2e4", "multipv 1 "), iteration(14, "d2d4", "multipv 2 ")];
    conversation
      .expect("setoption name MultiPV value 5")
      .expect(position)
      .expect(`${go} searchmoves d2d4 e2e4`, [...lines, "bestmove e2e4"]);
    expectCleaning(conversation, "setoption name MultiPV value 1");
    const job = jobOf({ multipv: 5, searchMoves: ["d2d4", "e2e4"] });
    const { endedBy, snapshot } = await session.search(job, forever);
    expect({ endedBy, lines: snapshot.lines.length }).toEqual({ endedBy: "depth", lines: 2 });
  });

  test.each([
    ["without the option MultiPV", [], [], 1],
    [
      "with a smaller maximum of MultiPV",
      ["option name MultiPV type spin default 1 min 1 max 2"],
      ["setoption name MultiPV value 2"],
      2,
    ],
  ])("a search with more lines than an engine %s can print gets as many as it can", async (_, ...more) => {
    const [options, sets, lines] = more;
    const names = ["id name Plain 1.0", ...options, "uciok"];
    const plain = script().expect("uci", names).expect("isready", ["readyok"]);
    const { session, conversation } = await openScripted(plain);
    expect(session.info.linesMax).toBe(lines);
    for (const set of sets) {
      conversation.expect(set);
    }
    const printed = ["e2e4", "d2d4"]
      .slice(0, lines)
      .map((move, at) => iteration(14, move, `multipv ${at + 1} `));
    conversation.expect(position).expect(go, [...printed, "bestmove e2e4"]);
    expectCleaning(conversation, ...sets.map(() => "setoption name MultiPV value 1"));
    expect(await session.search(jobOf({ multipv: 3 }), forever)).toMatchObject({
      endedBy: "depth",
      snapshot: { complete: true, lines: { length: lines } },
    });
  });
});

describe("the time of a search", () => {
  useClock();

  test.each([
    ["no time", "", 40],
    ["a time of a month", "time 2147483647 ", 40],
    ["a time that is slightly later than the clock of this process", "time 60 ", 60],
    ["a negative time", "time -5 ", 40],
    ["an earlier time", "time 3 ", 3],
  ])("the time of a search of 40 ms by an engine that prints %s is true", async (_, time, timeMs) => {
    const { conversation, search } = await searching();
    await wait(40);
    expectCleaning(conversation).say(`info depth 14 score cp 30 ${time}pv e2e4`, "bestmove e2e4");
    expect((await search).snapshot.counters.timeMs).toBe(timeMs);
  });
});

describe("a search that exceeds its limit", () => {
  useClock();

  test("a search that reaches the node limit after the time limit is reported as ended by time", async () => {
    const { session, conversation } = await openScripted();
    conversation.expect(position).expect("go nodes 900 movetime 305").expect("stop");
    expectCleaning(conversation);
    const answer = session.search(jobOf({ depth: undefined, nodes: 900, movetimeMs: 5 }), forever);
    await wait(20);
    conversation.say("info depth 4 score cp 30 nodes 900 time 4 pv e2e4", "bestmove e2e4");
    expect(await answer).toMatchObject({ endedBy: "time" });
  });

  test("an engine that exceeds its time limit gets the stop command, and its result is used", async () => {
    const { session, conversation, search } = await searching(300);
    conversation.expect("stop", [firstLine, "bestmove e2e4"]);
    expectCleaning(conversation);
    conversation.say(firstLine);
    await wait(300 - 1);
    expect(conversation.sent).not.toContain("stop");
    await wait(1);
    expect(await search).toMatchObject({ kind: "done", endedBy: "time" });
    expect(session.alive).toBe(true);
  });

  test("an engine that ignores the stop command is killed within 1.5 s after the limit", async () => {
    const { session, conversation, search, outcome } = await searching(300);
    conversation.expect("stop");
    conversation.say(firstLine);
    await wait(300 + stopMs - 1);
    expect(outcome.settled).toBe(false);
    await wait(1);
    await expect(search).rejects.toMatchObject({ kind: "overtime" });
    expect([conversation.killed, session.alive]).toEqual([true, false]);
    expect(stopMs).toBeLessThan(1500);
  });

  test("an engine that already got the stop command gets no second stop command when the client disconnects", async () => {
    const caller = new AbortController();
    const { conversation, search } = await searching(300, caller.signal);
    conversation.expect("stop");
    conversation.say(firstLine);
    await wait(300);
    await wait(stopMs - 1);
    caller.abort(new Error("left"));
    await turn();
    expect(conversation.killed).toBe(false);
    await wait(1);
    await expect(search).rejects.toMatchObject({ kind: "overtime" });
    expect(conversation.killed).toBe(true);
    expect(conversation.sent.filter((line) => line === "stop")).toHaveLength(1);
  });

  test.each([
    ["uses the processor", 100, true],
    ["gets nearly no processor time", 90, false],
    ["runs on a system that reports no processor time", undefined, true],
  ])(
    "if an engine ignores the stop command and %s (%s ms of processor time), the failure counts against the position: %s",
    async (_, usedMs, blamesPosition) => {
      const { conversation, search } = await searching(300);
      conversation.usedMs = usedMs === undefined ? undefined : 1000;
      conversation.expect("stop");
      conversation.say(firstLine);
      await wait(300);
      conversation.usedMs = usedMs === undefined ? undefined : 1000 + usedMs;
      await wait(stopMs);
      await expect(search).rejects.toMatchObject({ kind: "overtime", blamesPosition });
    },
  );

  test("an engine that has printed no line before its time limit is stopped after its first line, and this line is the result", async () => {
    const { session, conversation, search } = await searching(50);
    await wait(50 + stopMs - 1);
    expect(conversation.sent).not.toContain("stop");
    expectCleaning(conversation.expect("stop", ["bestmove e2e4"]));
    conversation.say(firstLine);
    expect(await search).toMatchObject({ kind: "done", bestMove: "e2e4", endedBy: "time" });
    expect(session.alive).toBe(true);
  });

  test("an engine that stops before its first line is not killed, and the search fails because its time is exceeded", async () => {
    const { session, conversation, search } = await searching(50);
    expectCleaning(conversation.expect("stop", ["bestmove e2e4"]));
    await wait(50 + stopMs);
    await expect(search).rejects.toMatchObject({ kind: "overtime", blamesPosition: false });
    await wait(0);
    expect([conversation.killed, session.state]).toEqual([false, "idle"]);
  });

  test("an engine that prints no line and ignores the stop command is killed within 1.5 s after the limit", async () => {
    const { conversation, search } = await searching(50);
    conversation.expect("stop");
    await wait(50 + 2 * stopMs);
    await expect(search).rejects.toMatchObject({ kind: "overtime" });
    expect(conversation.killed).toBe(true);
    expect(2 * stopMs).toBeLessThan(1500);
  });
});

describe("the reason for the end of a search", () => {
  useClock();

  /** The search has a time limit of 50 ms, and a depth limit or a node limit that its last line reaches. */
  async function searchTo(limit: "depth" | "nodes") {
    const { session, conversation } = await openScripted();
    const limits = limit === "depth" ? { depth: 14 } : { depth: undefined, nodes: 1400 };
    conversation.expect(position).expect(`go ${limit} ${limits.nodes ?? limits.depth} movetime 350`);
    const search = session.search(jobOf({ ...limits, movetimeMs: 50 }), forever);
    return { conversation, search };
  }

  /** Blocks this thread while the clock continues: no timer can run. */
  function blockFor(ms: number): void {
    const now = performance.now() + ms;
    vi.spyOn(performance, "now").mockReturnValue(now);
    onTestFinished(() => void vi.restoreAllMocks());
  }

  test.each(["depth", "nodes"] as const)(
    "a search that ends before its time limit without the stop command is reported as ended by the %s",
    async (limit) => {
      const { conversation, search } = await searchTo(limit);
      await wait(49);
      expectCleaning(conversation).say(iteration(14, "e2e4"), "bestmove e2e4");
      expect(await search).toMatchObject({ endedBy: limit, snapshot: { depth: 14 } });
    },
  );

  test.each([
    ["Plain 1.0", "depth"],
    ["Stockfish 16", "time"],
  ])(
    "an early end without a limit of an engine with the name %s is reported as ended by the %s",
    async (name, endedBy) => {
      const plain = script()
        .expect("uci", [`id name ${name}`, "uciok"])
        .expect("isready", ["readyok"]);
      const { session, conversation } = await openScripted(plain);
      conversation.expect(position).expect(go, [iteration(5, "e2e4"), "bestmove e2e4"]);
      expectCleaning(conversation);
      expect(await session.search(jobOf(), forever)).toMatchObject({ endedBy, snapshot: { depth: 5 } });
    },
  );

  test.each(["depth", "nodes"] as const)(
    "a search to its %s whose result crosses the stop command is reported as ended by time, and its last iteration as incomplete",
    async (limit) => {
      const { conversation, search } = await searchTo(limit);
      conversation.say(iteration(9, "e2e4"));
      conversation.expect("stop");
      await wait(50);
      expect(conversation.sent.at(-1)).toBe("stop");
      expectCleaning(conversation).say(iteration(14, "d2d4"), "bestmove d2d4");
      expect(await search).toMatchObject({
        endedBy: "time",
        bestMove: "d2d4",
        snapshot: { complete: true, depth: 9 },
      });
    },
  );

  test.each(["depth", "nodes"] as const)(
    "a search to its %s whose result arrives after the stop command is reported as ended by time",
    async (limit) => {
      const { conversation, search } = await searchTo(limit);
      conversation.say(iteration(14, "e2e4"));
      expectCleaning(conversation.expect("stop", ["bestmove e2e4"]));
      await wait(50);
      expect(await search).toMatchObject({ endedBy: "time" });
    },
  );

  test.each(["depth", "nodes"] as const)(
    "a search to its %s is reported as ended by time if the engine printed a time at the time limit",
    async (limit) => {
      const { conversation, search } = await searchTo(limit);
      conversation.say(iteration(14, "e2e4"));
      await wait(49);
      expectCleaning(conversation).say("info nodes 43596 time 51", "bestmove e2e4");
      expect(await search).toMatchObject({ endedBy: "time" });
    },
  );

  test.each(["depth", "nodes"] as const)(
    "a search to its %s is reported as ended by time if this process was too busy to send the stop command, because the engine may have reached its own time limit",
    async (limit) => {
      const { conversation, search } = await searchTo(limit);
      expectCleaning(conversation).say(iteration(14, "e2e4"), "bestmove e2e4");
      blockFor(350);
      expect(await search).toMatchObject({ endedBy: "time" });
      expect(conversation.sent).not.toContain("stop");
    },
  );
});

describe("a search that is ended early", () => {
  useClock();

  test("a search that is ended early returns its last complete iteration", async () => {
    const { session, conversation, search } = await searching();
    conversation.say(iteration(9, "e2e4"));
    await turn();
    expectCleaning(conversation.expect("stop", [iteration(10, "g2g4"), "bestmove g2g4"]));
    session.cutShort();
    expect(await search).toMatchObject({
      endedBy: "stop",
      bestMove: "g2g4",
      snapshot: { depth: 9, complete: true },
    });
  });

  test("a search that is ended early before its first line waits for this line, because a result needs a score", async () => {
    const { session, conversation, search } = await searching();
    session.cutShort();
    await turn();
    // A stopping server repeats this call.
    session.cutShort();
    expect(conversation.sent).not.toContain("stop");
    expectCleaning(conversation.expect("stop", ["bestmove e2e4"]));
    conversation.say(firstLine);
    expect(await search).toMatchObject({
      bestMove: "e2e4",
      endedBy: "stop",
      snapshot: { depth: 1, complete: true },
    });
  });

  test("a search that is ended early after the stop command sends no second stop command", async () => {
    const { session, conversation, search } = await searching(300);
    expectCleaning(conversation.expect("stop"));
    conversation.say(firstLine);
    await wait(300);
    session.cutShort();
    conversation.say("bestmove e2e4");
    expect(await search).toMatchObject({ kind: "done", endedBy: "stop" });
  });
});

describe("a client that disconnects", () => {
  useClock();

  test("an aborted search reports no more snapshots, and rejects with the abort reason when the engine has stopped", async () => {
    const caller = new AbortController();
    const { session, conversation, search, outcome, depths } = await searching(60_000, caller.signal);
    conversation.say(iteration(1, "e2e4"));
    await turn();
    conversation.expect("stop");
    caller.abort(new Error("seen enough"));
    expect(conversation.sent.at(-1)).toBe("stop");
    await turn();
    expect([outcome.settled, session.state]).toEqual([false, "searching"]);
    expectCleaning(conversation);
    conversation.say(iteration(2, "e2e4"), iteration(3, "e2e4"), "bestmove e2e4");
    await expect(search).rejects.toThrow("seen enough");
    await turn();
    expect([depths, session.state]).toEqual([[1], "idle"]);
  });

  test.each([
    ["stops before its first line", "bestmove e2e4"],
    ["stops without a move", "bestmove (none)"],
  ])("an engine that %s is not killed if the client disconnects", async (_, answer) => {
    const caller = new AbortController();
    const { session, conversation, search } = await searching(60_000, caller.signal);
    expectCleaning(conversation.expect("stop", [answer]));
    caller.abort();
    await expect(search).rejects.toBe(caller.signal.reason);
    await turn();
    expect(session.state).toBe("idle");
  });

  test("if the client disconnects before the search, the engine gets no command", async () => {
    const { session } = await openScripted();
    const gone = AbortSignal.abort(new Error("gone"));
    await expect(session.search(jobOf(), gone)).rejects.toThrow("gone");
  });

  test("a search removes its listener from the abort signal of the client", async () => {
    const { signal } = new AbortController();
    const { conversation, search } = await searching(60_000, signal);
    expectCleaning(conversation);
    conversation.say(iteration(14, "e2e4"), "bestmove e2e4");
    await search;
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });
});

describe("an engine that prints nothing", () => {
  useClock();

  test("a silent engine gets isready during a search, and is not killed if it responds", async () => {
    const { session, conversation, search } = await searching();
    for (const again of [2, 3, 4]) {
      conversation.expect("isready", ["readyok"]);
      await wait(silenceMs);
      await conversation.waitForCommand("isready", again);
    }
    expectCleaning(conversation);
    conversation.say(firstLine, "bestmove e2e4");
    expect(await search).toMatchObject({ kind: "done" });
    expect(session.alive).toBe(true);
  });

  test("an engine that prints lines during a search gets no isready", async () => {
    const { conversation, search } = await searching();
    for (let ms = 0; ms < 4 * silenceMs; ms += silenceMs / 2) {
      await wait(silenceMs / 2);
      conversation.say(firstLine);
      await wait(0);
    }
    expectCleaning(conversation);
    conversation.say("bestmove e2e4");
    await search;
  });

  test("an engine that does not respond to isready is killed as unresponsive", async () => {
    const { session, conversation, search, outcome } = await searching();
    conversation.expect("isready");
    await wait(silenceMs + unresponsiveMs - 1);
    expect(outcome.settled).toBe(false);
    await wait(silenceMs);
    await expect(search).rejects.toMatchObject({ kind: "unresponsive" });
    expect(conversation.killed).toBe(true);
    expect(await session.exited).toMatchObject({ kind: "unresponsive" });
  });

  test("the failure of an unresponsive engine says how long ago the engine printed its last line", async () => {
    const { conversation, search } = await searching();
    search.catch(() => {});
    await wait(600);
    conversation.say(firstLine);
    await turn();
    conversation.expect("isready");
    // The watch looks at the silence every half of silenceMs: at 2000 ms, the engine has been silent for 1400 ms.
    await wait(2000 - 600 + unresponsiveMs);
    await expect(search).rejects.toThrow(`no sign of life for ${1400 + unresponsiveMs} ms while searching`);
  });

  test("an engine that dies before its response to isready leaves no timer running", async () => {
    const { conversation, search } = await searching();
    conversation.expect("isready");
    await wait(silenceMs);
    conversation.hangUp();
    await expect(search).rejects.toMatchObject({ kind: "exited" });
  });
});

describe("a server that was paused", () => {
  /** Blocks the event loop, like SIGSTOP, a debugger or a garbage collection. */
  function standStill(ms: number): void {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
  }

  async function searchingProcess(movetimeMs: number, signal = forever) {
    const session = await createFakeBackend({ iterationMs: 5 }).start(buildOf(), forever);
    onTestFinished(() => session[Symbol.asyncDispose]());
    const job = jobOf({ depth: 100_000, movetimeMs });
    const { answer } = await underWay((onProgress) => session.search(job, signal, onProgress));
    return { session, answer };
  }

  test("an engine is not killed if its result arrived while the server was paused", async () => {
    const { session, answer } = await searchingProcess(50);
    standStill(marginMs + stopMs + 1000);
    expect((await answer).endedBy).toBe("time");
    expect(session.alive).toBe(true);
  });

  test("an engine that stopped in time is not killed if the server reads its output late", async () => {
    const caller = new AbortController();
    const { session, answer } = await searchingProcess(60_000, caller.signal);
    caller.abort(new Error("left"));
    standStill(stopMs + 1000);
    await expect(answer).rejects.toThrow("left");
    expect((await session.search(jobOf({ depth: 2 }), forever)).endedBy).toBe("depth");
  });
});
