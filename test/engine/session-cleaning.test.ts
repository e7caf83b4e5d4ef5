import { describe, expect, test } from "vitest";
import { startFen } from "../chess/judged.ts";
import { jobOf } from "./job-of.ts";
import { openScripted } from "./scripted-session.ts";

const forever = new AbortController().signal;
const go = "go depth 14 movetime 60000";
/** A turn of the event loop: what can go on without a new line has gone on. */
const turn = () => new Promise(setImmediate);
const start = `position fen ${startFen}`;
const line = (depth: number, move: string) => `info depth ${depth} score cp 30 time ${depth} pv ${move}`;

/** A session that has answered a search in this turn, and has not been sent to clean up yet. */
async function answered(job = jobOf()) {
  const { session, conversation } = await openScripted();
  const lines = Array.from(
    { length: job.multipv },
    (_, at) => `info depth 14 multipv ${at + 1} score cp 30 time 14 pv e2e4`,
  );
  if (job.multipv > 1) {
    conversation.expect(`setoption name MultiPV value ${job.multipv}`);
  }
  conversation.expect(start).expect(go, [...lines, "bestmove e2e4"]);
  await session.search(job, forever);
  return { session, conversation, writes: () => conversation.writes.slice(3) };
}

test("an engine that ends in its cleaning is not blamed on the next search", async () => {
  const { session, conversation } = await answered();
  conversation.expect("ucinewgame").expect(start).expect(go);
  const next = session.search(jobOf(), forever);
  await turn();
  conversation.hangUp();
  await expect(next).rejects.toMatchObject({ kind: "no_start", cause: { kind: "exited" } });
});

test("a line of an idle engine does not end the watch over its cleaning", async () => {
  const { session, conversation } = await answered();
  conversation.expect("ucinewgame").expect("isready");
  await turn();
  conversation.say("info string still at it");
  await turn();
  expect(session.state).toBe("stopping");
  conversation.say("readyok");
  await turn();
  expect(session.state).toBe("idle");
});

describe("an engine that has answered", () => {
  test("an engine that has answered and has no next search is cleaned, and idle when it says that it is ready", async () => {
    const { session, conversation, writes } = await answered(jobOf({ multipv: 2 }));
    conversation.expect("setoption name MultiPV value 1").expect("ucinewgame").expect("isready");
    expect(session.state).toBe("stopping");
    expect(writes()).toEqual([]);
    await turn();
    expect(writes()).toEqual([["setoption name MultiPV value 1", "ucinewgame", "isready"]]);
    expect(session.state).toBe("stopping");
    conversation.say("readyok");
    await turn();
    expect(session.state).toBe("idle");
    // It is told so once.
    await turn();
    expect(writes()).toHaveLength(1);
  });

  test("an engine that has answered gets the next search together with the cleaning, and is woken once", async () => {
    const { session, conversation, writes } = await answered(jobOf({ multipv: 2 }));
    conversation.expect("setoption name MultiPV value 1").expect("ucinewgame");
    conversation.expect("setoption name Skill Level value 3").expect(start).expect(go);
    const next = session.search(jobOf({ options: { skill_level: 3 } }), forever);
    const together = [
      "setoption name MultiPV value 1",
      "ucinewgame",
      "setoption name Skill Level value 3",
      start,
      go,
    ];
    expect(writes()).toEqual([together]);
    expect(session.state).toBe("busy");
    await turn();
    // It is not asked whether it is ready: the first line of the search says so.
    expect(writes()).toEqual([together]);
    conversation.expect("setoption name Skill Level value 20").expect("ucinewgame");
    conversation.expect("isready", ["readyok"]);
    conversation.say(line(14, "d2d4"), "bestmove d2d4");
    expect((await next).bestMove).toBe("d2d4");
    await turn();
    expect(writes().slice(1)).toEqual([["setoption name Skill Level value 20", "ucinewgame", "isready"]]);
    expect(session.state).toBe("idle");
  });

  test("an engine that has answered is set the options of the next search, though the last one had the same", async () => {
    const { session, conversation, writes } = await answered(jobOf({ multipv: 2 }));
    conversation.expect("setoption name MultiPV value 1").expect("ucinewgame");
    conversation.expect("setoption name MultiPV value 2").expect(start).expect(go);
    const next = session.search(jobOf({ multipv: 2 }), forever);
    expect(writes()).toHaveLength(1);
    conversation.expect("setoption name MultiPV value 1").expect("ucinewgame");
    conversation.expect("isready", ["readyok"]);
    conversation.say(line(14, "e2e4"), "bestmove e2e4");
    await next;
  });

  test("an engine that has many searches in a row gets each in one write with the cleaning after the last", async () => {
    const { session, conversation, writes } = await answered();
    for (let search = 0; search < 3; search++) {
      conversation
        .expect("ucinewgame")
        .expect(start)
        .expect(go, [line(14, "e2e4"), "bestmove e2e4"]);
      await session.search(jobOf(), forever);
    }
    conversation.expect("ucinewgame").expect("isready", ["readyok"]);
    await turn();
    const together = ["ucinewgame", start, go];
    expect(writes()).toEqual([together, together, together, ["ucinewgame", "isready"]]);
    expect(session.state).toBe("idle");
  });

  test("an engine that has answered is cleaned without a wait: the next search lies in the pipe behind it", async () => {
    const { session, conversation, writes } = await answered();
    conversation.expect("ucinewgame").expect("isready");
    await turn();
    expect(session.state).toBe("stopping");
    conversation.expect(start).expect(go);
    const next = session.search(jobOf(), forever);
    expect(writes()).toEqual([
      ["ucinewgame", "isready"],
      [start, go],
    ]);
    expect(session.state).toBe("busy");
    conversation.expect("ucinewgame").expect("isready", ["readyok"]);
    conversation.say("readyok", line(14, "d2d4"), "bestmove d2d4");
    expect((await next).bestMove).toBe("d2d4");
    await turn();
    expect(session.state).toBe("idle");
  });

  test("an engine that has answered is cleaned, though the next caller has left before its search began", async () => {
    const { session, conversation, writes } = await answered();
    conversation.expect("ucinewgame").expect("isready", ["readyok"]);
    const gone = AbortSignal.abort(new Error("gone"));
    await expect(session.search(jobOf(), gone)).rejects.toThrow("gone");
    await turn();
    expect(writes()).toEqual([["ucinewgame", "isready"]]);
    expect(session.state).toBe("idle");
  });
});

describe("a caller that leaves while the engine is being cleaned", () => {
  test.each(["in the same write", "a turn before"])(
    "a caller that leaves %s while the engine is cleaned need not wait, and does no harm",
    async (when) => {
      const { session, conversation, writes } = await answered();
      conversation.expect("ucinewgame");
      if (when === "a turn before") {
        conversation.expect("isready");
        await turn();
      }
      conversation.expect(start).expect(go).expect("stop");
      const caller = new AbortController();
      const next = session.search(jobOf(), caller.signal);
      caller.abort(new Error("no patience"));
      await expect(next).rejects.toThrow("no patience");
      expect(session.state).toBe("stopping");
      if (when === "a turn before") {
        conversation.say("readyok");
      }
      conversation.say("bestmove e2e4");
      conversation.expect("ucinewgame").expect("isready", ["readyok"]);
      await turn();
      expect(writes().slice(-2)).toEqual([["stop"], ["ucinewgame", "isready"]]);
      expect(session.state).toBe("idle");
    },
  );
});

describe("an engine that is busy for a caller who has left", () => {
  const left = async () => {
    const { session, conversation } = await openScripted();
    const caller = new AbortController();
    conversation.expect(start).expect(go).expect("stop");
    const search = session.search(jobOf(), caller.signal);
    caller.abort(new Error("left"));
    await expect(search).rejects.toThrow("left");
    return { session, conversation, writes: () => conversation.writes.slice(4) };
  };

  test("an engine whose caller has left gets the next search after its bestmove, together with the cleaning", async () => {
    const { session, conversation, writes } = await left();
    const next = session.search(jobOf(), forever);
    await turn();
    expect(writes()).toEqual([]);
    conversation
      .expect("ucinewgame")
      .expect(start)
      .expect(go, [line(14, "d2d4"), "bestmove d2d4"]);
    conversation.say("bestmove e2e4");
    expect((await next).bestMove).toBe("d2d4");
    expect(writes()).toEqual([["ucinewgame", start, go]]);
    conversation.expect("ucinewgame").expect("isready", ["readyok"]);
  });

  test("an engine whose caller has left is sent nothing for a waiting caller that leaves, too", async () => {
    const { session, conversation, writes } = await left();
    const caller = new AbortController();
    const next = session.search(jobOf(), caller.signal);
    await turn();
    caller.abort(new Error("no patience"));
    await expect(next).rejects.toThrow("no patience");
    conversation.expect("ucinewgame").expect("isready", ["readyok"]);
    conversation.say("bestmove e2e4");
    await turn();
    expect(writes()).toEqual([["ucinewgame", "isready"]]);
    expect(session.state).toBe("idle");
  });
});
