import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { SearchEvent } from "../../src/engine/engine.ts";
import { defaultWatchTimes } from "../../src/engine/uci/watch-times.ts";
import { startFen } from "../chess/judged.ts";
import { giveClockBack, openTimers, takeClock, wait } from "./clock.ts";
import { eventsOf, jobOf } from "./job-of.ts";
import { openScripted } from "./scripted-session.ts";

const { silenceMs, deafMs, lateMs, stopMs, cleanMs } = defaultWatchTimes;
const forever = new AbortController().signal;
const start = `position fen ${startFen}`;
const someLine = "info depth 1 score cp 30 time 1 pv e2e4";

beforeEach(takeClock);
afterEach(() => {
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
  const search = eventsOf(session.search(jobOf({ movetimeMs }), signal)).finally(() => {
    outcome.settled = true;
  });
  // Rejections are awaited later.
  search.catch(() => {});
  await conversation.told(go);
  return { session, conversation, search, outcome };
}

describe("an engine that searches in silence", () => {
  test("is asked for a sign of life, and left alone if it gives one", async () => {
    const { session, conversation, search } = await searching(60_000);
    for (const again of [2, 3, 4]) {
      conversation.expect("isready", ["readyok"]);
      await wait(silenceMs);
      await conversation.told("isready", again);
    }
    conversation.expect("ucinewgame").expect("isready", ["readyok"]);
    conversation.say(someLine, "bestmove e2e4");
    expect((await search).at(-1)).toMatchObject({ kind: "done" } satisfies Partial<SearchEvent>);
    expect(session.alive).toBe(true);
  });

  test("is not asked while it prints", async () => {
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

  test("is deaf and killed if it gives none", async () => {
    const { session, conversation, search, outcome } = await searching(60_000);
    conversation.expect("isready");
    await wait(silenceMs + deafMs - 1);
    expect(outcome.settled).toBe(false);
    await wait(silenceMs);
    await expect(search).rejects.toMatchObject({ kind: "deaf" });
    expect(conversation.killed).toBe(true);
    expect(await session.exited).toMatchObject({ kind: "deaf" });
  });

  test("is no fault of its own if somebody has suspended it", async () => {
    const { conversation, search } = await searching(60_000);
    conversation.expect("isready");
    conversation.suspendedFromOutside = true;
    await wait(silenceMs + deafMs + silenceMs);
    await expect(search).rejects.toMatchObject({ kind: "suspended" });
    expect(conversation.killed).toBe(true);
  });
});

describe("an engine that does not end by its limit", () => {
  test("is told to stop, and its answer counts", async () => {
    const { session, conversation, search } = await searching(300);
    conversation
      .expect("stop", [someLine, "bestmove e2e4"])
      .expect("ucinewgame")
      .expect("isready", ["readyok"]);
    await wait(300 + lateMs - 1);
    expect(conversation.sent).not.toContain("stop");
    await wait(1);
    expect((await search).at(-1)).toMatchObject({ kind: "done", endedBy: "time" });
    expect(session.alive).toBe(true);
  });

  test("nor when it is told to stop has overrun, and is killed in time for an answer within 1.5 s", async () => {
    const { session, conversation, search, outcome } = await searching(300);
    conversation.expect("stop");
    await wait(300 + lateMs + stopMs - 1);
    expect(outcome.settled).toBe(false);
    await wait(1);
    await expect(search).rejects.toMatchObject({ kind: "overran" });
    expect(conversation.killed).toBe(true);
    expect(session.alive).toBe(false);
    expect(lateMs + stopMs).toBeLessThan(1500);
  });

  test("because it was suspended has not overrun", async () => {
    const { conversation, search } = await searching(300);
    conversation.expect("stop");
    conversation.suspendedFromOutside = true;
    await wait(300 + lateMs + stopMs);
    await expect(search).rejects.toMatchObject({ kind: "suspended" });
  });
});

describe("an engine whose caller has left", () => {
  test("is killed if it does not stop, and nobody else hears of that as a failed search", async () => {
    const caller = new AbortController();
    const { session, conversation, search } = await searching(60_000, caller.signal);
    conversation.expect("stop");
    caller.abort(new Error("left"));
    await expect(search).rejects.toThrow("left");
    // Somebody is already waiting for this engine.
    const next = eventsOf(session.search(jobOf(), forever));
    next.catch(() => {});
    await wait(stopMs - 1);
    expect(conversation.killed).toBe(false);
    await wait(1);
    expect(conversation.killed).toBe(true);
    expect(await session.exited).toMatchObject({ kind: "overran" });
    // The next caller's search has not overrun, it has not even begun: it is to be tried elsewhere.
    await expect(next).rejects.toMatchObject({ kind: "no_start" });
  });

  test.each(["took the answer", "has not taken it yet"])("who %s is not stopped", async (when) => {
    const { session, conversation } = await openScripted();
    const go = "go depth 14 movetime 60000";
    conversation.expect(start).expect(go, [someLine]);
    const caller = new AbortController();
    const search = session.search(jobOf(), caller.signal)[Symbol.asyncIterator]();
    expect((await search.next()).value).toMatchObject({ kind: "progress" });
    conversation.say("bestmove e2e4");
    await wait(0);
    conversation.expect("ucinewgame").expect("isready", ["readyok"]);
    if (when === "took the answer") {
      expect((await search.next()).value).toMatchObject({ kind: "done" });
      await wait(0);
    }
    caller.abort(new Error("left"));
    await search.next().catch(() => {});
    await wait(10 * stopMs);
    expect(conversation.killed).toBe(false);
    expect(session.state).toBe("idle");
  });

  test("who breaks off a search that has ended meanwhile is not stopped", async () => {
    const { session, conversation } = await openScripted();
    conversation.expect(start).expect("go depth 14 movetime 60000", [someLine]);
    const search = session.search(jobOf(), forever)[Symbol.asyncIterator]();
    await search.next();
    conversation.say("bestmove e2e4");
    await wait(0);
    conversation.expect("ucinewgame").expect("isready", ["readyok"]);
    await search.return?.();
    await wait(10 * stopMs);
    expect(session.alive).toBe(true);
  });
});

test("an engine that does not get clean is killed, and the next search is to be tried elsewhere", async () => {
  const { session, conversation, search } = await searching(60_000);
  conversation.expect("ucinewgame").expect("isready").expect(`position fen ${startFen}`);
  conversation.expect("go depth 14 movetime 60000").expect("isready");
  conversation.say(someLine, "bestmove e2e4");
  await search;
  const next = eventsOf(session.search(jobOf(), forever));
  next.catch(() => {});
  await wait(cleanMs);
  await expect(next).rejects.toMatchObject({ kind: "no_start" });
  expect(await session.exited).toMatchObject({ kind: "no_start" });
  expect(conversation.killed).toBe(true);
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
