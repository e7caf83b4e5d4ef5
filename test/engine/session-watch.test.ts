import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { defaultWatchTimes } from "../../src/engine/uci/watch.ts";
import { startFen } from "../chess/judged.ts";
import { giveClockBack, openTimers, takeClock, wait } from "./clock.ts";
import { jobOf } from "./job-of.ts";
import { openScripted } from "./scripted-session.ts";

const { silenceMs, unresponsiveMs, lateMs, stopMs, cleanMs } = defaultWatchTimes;
const forever = new AbortController().signal;
const start = `position fen ${startFen}`;
const go = "go depth 14 movetime 60000";
const someLine = "info depth 1 score cp 30 time 1 pv e2e4";

beforeEach(takeClock);
afterEach(async () => {
  await wait(0);
  // A timer that outlives its search would kill an engine in somebody else's.
  const open = openTimers();
  giveClockBack();
  expect(open).toBe(0);
});

/** A session in a search that ends by its time, if the engine ends it. */
async function searching(movetimeMs: number, signal = forever) {
  const { session, conversation } = await openScripted();
  const go = `go depth 14 movetime ${movetimeMs}`;
  conversation.expect(start).expect(go);
  const outcome = { settled: false };
  const search = session.search(jobOf({ movetimeMs }), signal).finally(() => {
    outcome.settled = true;
  });
  // Rejections are awaited later.
  search.catch(() => {});
  await conversation.told(go);
  return { session, conversation, search, outcome };
}

describe("an engine that searches in silence", () => {
  test("an engine that searches in silence is asked for a sign of life, and left alone if it gives one", async () => {
    const { session, conversation, search } = await searching(60_000);
    for (const again of [2, 3, 4]) {
      conversation.expect("isready", ["readyok"]);
      await wait(silenceMs);
      await conversation.told("isready", again);
    }
    conversation.expect("ucinewgame").expect("isready", ["readyok"]);
    conversation.say(someLine, "bestmove e2e4");
    expect(await search).toMatchObject({ kind: "done" });
    expect(session.alive).toBe(true);
  });

  test("an engine that prints is not asked for a sign of life", async () => {
    const { conversation, search } = await searching(60_000);
    for (let ms = 0; ms < 4 * silenceMs; ms += silenceMs / 2) {
      await wait(silenceMs / 2);
      conversation.say(someLine);
      await wait(0);
    }
    conversation.expect("ucinewgame").expect("isready", ["readyok"]);
    conversation.say("bestmove e2e4");
    await search;
  });

  test("an engine that gives no sign of life is unresponsive and killed", async () => {
    const { session, conversation, search, outcome } = await searching(60_000);
    conversation.expect("isready");
    await wait(silenceMs + unresponsiveMs - 1);
    expect(outcome.settled).toBe(false);
    await wait(silenceMs);
    await expect(search).rejects.toMatchObject({ kind: "unresponsive" });
    expect(conversation.killed).toBe(true);
    expect(await session.exited).toMatchObject({ kind: "unresponsive" });
  });
});

describe("an engine that does not end by its limit", () => {
  test("an engine that does not end by its limit is told to stop, and its answer counts", async () => {
    const { session, conversation, search } = await searching(300);
    conversation
      .expect("stop", [someLine, "bestmove e2e4"])
      .expect("ucinewgame")
      .expect("isready", ["readyok"]);
    conversation.say(someLine);
    await wait(300 + lateMs - 1);
    expect(conversation.sent).not.toContain("stop");
    await wait(1);
    expect(await search).toMatchObject({ kind: "done", endedBy: "time" });
    expect(session.alive).toBe(true);
  });

  test("an engine that does not stop when told has overrun, and is killed in time for an answer within 1.5 s", async () => {
    const { session, conversation, search, outcome } = await searching(300);
    conversation.expect("stop");
    conversation.say(someLine);
    await wait(300 + lateMs + stopMs - 1);
    expect(outcome.settled).toBe(false);
    await wait(1);
    await expect(search).rejects.toMatchObject({ kind: "overtime" });
    expect(conversation.killed).toBe(true);
    expect(session.alive).toBe(false);
    expect(lateMs + stopMs).toBeLessThan(1500);
  });

  test("an engine that was told to stop is not told again when its caller leaves, and has no more time", async () => {
    const caller = new AbortController();
    const { session, conversation, search } = await searching(300, caller.signal);
    conversation.expect("stop");
    conversation.say(someLine);
    await wait(300 + lateMs);
    await wait(stopMs - 1);
    caller.abort(new Error("left"));
    await expect(search).rejects.toThrow("left");
    expect(session.state).toBe("stopping");
    expect(conversation.killed).toBe(false);
    await wait(1);
    expect(conversation.killed).toBe(true);
    expect(conversation.sent.filter((line) => line === "stop")).toHaveLength(1);
  });

  test("an engine that was told to stop is not told again when it is cut short, and says that it was", async () => {
    const { session, conversation, search } = await searching(300);
    conversation.expect("stop").expect("ucinewgame").expect("isready", ["readyok"]);
    conversation.say(someLine);
    await wait(300 + lateMs);
    session.cutShort();
    conversation.say("bestmove e2e4");
    expect(await search).toMatchObject({ kind: "done", endedBy: "stop" });
  });

  test.each([
    ["used the processor meanwhile", 100, true],
    ["was hardly given the processor", 90, false],
    ["runs on a system that does not tell", undefined, true],
  ])(
    "an engine that does not stop when told, and %s, blames its position: %s ms, %s",
    async (_, usedMs, blamesPosition) => {
      const { conversation, search } = await searching(300);
      conversation.usedMs = usedMs === undefined ? undefined : 1000;
      conversation.expect("stop");
      conversation.say(someLine);
      await wait(300 + lateMs);
      conversation.usedMs = usedMs === undefined ? undefined : 1000 + usedMs;
      await wait(stopMs);
      await expect(search).rejects.toMatchObject({ kind: "overtime", blamesPosition });
    },
  );
});

describe("an engine that has said no line when its limit passes", () => {
  test("an engine that has said no line when its limit passes is stopped at its first line, which answers the search", async () => {
    const { session, conversation, search } = await searching(50);
    await wait(50 + lateMs + stopMs - 1);
    expect(conversation.sent).not.toContain("stop");
    conversation.expect("stop", ["bestmove e2e4"]).expect("ucinewgame").expect("isready", ["readyok"]);
    conversation.say(someLine);
    expect(await search).toMatchObject({ kind: "done", bestMove: "e2e4", endedBy: "time" });
    expect(session.alive).toBe(true);
  });

  test("an engine that is stopped before its first line is not killed, and the search is out of time", async () => {
    const { session, conversation, search } = await searching(50);
    conversation.expect("stop", ["bestmove e2e4"]).expect("ucinewgame").expect("isready", ["readyok"]);
    await wait(50 + lateMs + stopMs);
    await expect(search).rejects.toMatchObject({ kind: "overtime", blamesPosition: false });
    await wait(0);
    expect(conversation.killed).toBe(false);
    expect(session.state).toBe("idle");
  });

  test("an engine that says no line, and does not stop either, is killed in time for an answer within 1.5 s", async () => {
    const { conversation, search } = await searching(50);
    conversation.expect("stop").expect("isready");
    await wait(50 + lateMs + 2 * stopMs);
    await expect(search).rejects.toMatchObject({ kind: "overtime" });
    expect(conversation.killed).toBe(true);
    expect(lateMs + 2 * stopMs).toBeLessThan(1500);
  });
});

describe("an engine whose caller has left", () => {
  test("an engine whose caller has left is killed if it does not stop, and no other search fails", async () => {
    const caller = new AbortController();
    const { session, conversation, search } = await searching(60_000, caller.signal);
    conversation.expect("stop");
    caller.abort(new Error("left"));
    await expect(search).rejects.toThrow("left");
    // Somebody is already waiting for this engine.
    const next = session.search(jobOf(), forever);
    next.catch(() => {});
    await wait(stopMs - 1);
    expect(conversation.killed).toBe(false);
    await wait(1);
    expect(conversation.killed).toBe(true);
    expect(await session.exited).toMatchObject({ kind: "overtime" });
    // The next caller's search has not overrun, it has not even begun: it is to be tried elsewhere.
    await expect(next).rejects.toMatchObject({ kind: "no_start" });
  });

  // Wherever the answer is on its way to them, or when they have it.
  test.each([1, 2, 3, 4, 5, 6, 7, 8])(
    "an engine whose caller leaves %i steps after its bestmove is not stopped",
    async (steps) => {
      const { session, conversation } = await openScripted();
      conversation.expect(start).expect(go, [someLine]);
      const caller = new AbortController();
      const search = session.search(jobOf(), caller.signal);
      await wait(0);
      conversation.say("bestmove e2e4");
      for (let step = 0; step < steps; step++) {
        await Promise.resolve();
      }
      conversation.expect("ucinewgame").expect("isready", ["readyok"]);
      caller.abort(new Error("left"));
      expect(await search).toMatchObject({ bestMove: "e2e4" });
      await wait(10 * stopMs);
      expect(conversation.sent).not.toContain("stop");
      expect(conversation.killed).toBe(false);
      expect(session.state).toBe("idle");
      // Nor does anything of them stay.
      conversation.expect(start).expect(go, [someLine, "bestmove d2d4"]);
      conversation.expect("ucinewgame").expect("isready", ["readyok"]);
      expect(await session.search(jobOf(), forever)).toMatchObject({ bestMove: "d2d4" });
    },
  );
});

describe("an engine that does not get clean", () => {
  /** A session whose engine was told to clean up, and hears nothing any more; the next search waits behind that. */
  async function stuck(when: "at once" | "later", movetimeMs: number, signal = forever) {
    const { session, conversation, search } = await searching(60_000);
    conversation.expect("ucinewgame");
    if (when === "later") {
      conversation.expect("isready");
    }
    conversation.expect(start).expect(`go depth 14 movetime ${movetimeMs}`);
    conversation.say(someLine, "bestmove e2e4");
    await search;
    if (when === "later") {
      await wait(0);
    }
    const outcome = { settled: false };
    const next = session.search(jobOf({ movetimeMs }), signal).finally(() => {
      outcome.settled = true;
    });
    next.catch(() => {});
    return { session, conversation, next, outcome };
  }

  test("an engine that does not finish its cleaning is killed, though no caller waits for it", async () => {
    const { session, conversation, search } = await searching(60_000);
    conversation.expect("ucinewgame").expect("isready");
    conversation.say(someLine, "bestmove e2e4");
    await search;
    await wait(cleanMs - 1);
    expect(conversation.killed).toBe(false);
    await wait(1);
    expect(conversation.killed).toBe(true);
    expect(await session.exited).toMatchObject({ kind: "no_start" });
  });

  test.each(["at once", "later"] as const)(
    "an engine that does not finish its cleaning is killed, and a search that followed %s is to be tried elsewhere",
    async (when) => {
      const { session, conversation, next } = await stuck(when, 60_000);
      conversation.expect("isready");
      await wait(cleanMs);
      await expect(next).rejects.toMatchObject({ kind: "no_start" });
      expect(await session.exited).toMatchObject({ kind: "no_start" });
      expect(conversation.killed).toBe(true);
    },
  );

  test.each(["at once", "later"] as const)(
    "an engine that does not finish its cleaning is not blamed on a search that followed %s when its time is over",
    async (when) => {
      const { session, conversation, next, outcome } = await stuck(when, 300);
      conversation.expect("stop").expect("isready");
      await wait(300 + lateMs + 2 * stopMs - 1);
      expect(outcome.settled).toBe(false);
      await wait(1);
      await expect(next).rejects.toMatchObject({ kind: "no_start", cause: { kind: "overtime" } });
      expect(await session.exited).toMatchObject({ kind: "no_start" });
      expect(conversation.killed).toBe(true);
    },
  );

  test.each(["at once", "later"] as const)(
    "an engine that does not finish its cleaning is killed when the caller leaves whose search followed %s",
    async (when) => {
      const caller = new AbortController();
      const { session, conversation, next } = await stuck(when, 60_000, caller.signal);
      conversation.expect("stop");
      caller.abort(new Error("left"));
      await expect(next).rejects.toThrow("left");
      await wait(stopMs);
      expect(conversation.killed).toBe(true);
      expect(await session.exited).toMatchObject({ kind: "no_start" });
    },
  );

  test("a failure after the first line of the next search is not blamed on the cleaning", async () => {
    const { session, conversation, next } = await stuck("at once", 60_000);
    conversation.say("info string NNUE evaluation");
    conversation.expect("isready");
    await wait(cleanMs + silenceMs);
    await expect(next).rejects.toMatchObject({ kind: "unresponsive" });
    expect(await session.exited).toMatchObject({ kind: "unresponsive" });
  });
});

test("an engine that dies when it owes a sign of life leaves no timer", async () => {
  const { conversation, search } = await searching(60_000);
  conversation.expect("isready");
  await wait(silenceMs);
  conversation.hangUp();
  await expect(search).rejects.toMatchObject({ kind: "exited" });
});

test("a session that is closed in a search leaves no timer", async () => {
  const { session, search } = await searching(60_000);
  await session[Symbol.asyncDispose]();
  await expect(search).rejects.toMatchObject({ kind: "exited" });
});
