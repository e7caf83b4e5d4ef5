import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { startFen } from "../chess/judged.ts";
import { eventsOf, jobOf } from "./job-of.ts";
import { openScripted, script } from "./scripted-session.ts";
import type { Script } from "./scripted-transport.ts";

const forever = new AbortController().signal;
const go = "go depth 14 movetime 60000";
/** A turn of the event loop: what can go on without a new line has gone on. */
const turn = () => new Promise(setImmediate);
const start = `position fen ${startFen}`;
const line = (depth: number, move: string, more = "") =>
  `info depth ${depth} seldepth ${depth + 2} score cp 30 wdl 80 900 20 nodes ${depth * 100} nps 1000 hashfull 1 tbhits 0 time ${depth} ${more}pv ${move}`;

describe("a search", () => {
  test("a search sends the root, the time and the depth, and reports states, then one answer", async () => {
    const { session, conversation } = await openScripted();
    conversation
      .expect(start)
      .expect(go, [line(13, "e2e4 e7e5"), line(14, "e2e4 c7c5"), "bestmove e2e4 ponder c7c5"])
      .expect("ucinewgame")
      .expect("isready", ["readyok"]);
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

  test("a search sends the history as root and moves, so that the engine sees repetitions", async () => {
    const { session, conversation } = await openScripted();
    const moves = ["g1f3", "g8f6", "f3g1", "f6g8"];
    conversation
      .expect(`${start} moves g1f3 g8f6 f3g1 f6g8`)
      .expect(go, [line(14, "e2e4"), "bestmove e2e4"])
      .expect("ucinewgame")
      .expect("isready", ["readyok"]);
    await session.search(jobOf({ moves }), forever);
  });

  test("a search that is cut short before its first line stops at that line, because an answer needs a score", async () => {
    const { session, conversation } = await openScripted();
    conversation.expect(start).expect(go);
    const answer = session.search(jobOf(), forever);
    session.cutShort();
    await new Promise(setImmediate);
    // As a server does that stops, again and again.
    session.cutShort();
    expect(conversation.sent).not.toContain("stop");
    conversation.expect("stop", ["bestmove e2e4"]).expect("ucinewgame").expect("isready", ["readyok"]);
    conversation.say("info depth 1 score cp 30 time 1 pv e2e4");
    expect(await answer).toMatchObject({ bestMove: "e2e4", endedBy: "stop" });
  });

  test("a search that is cut short answers with its last complete iteration, not with a partial one", async () => {
    const { session, conversation } = await openScripted();
    conversation
      .expect(start)
      .expect(go)
      .expect("stop", [line(10, "g2g4"), "bestmove g2g4"]);
    conversation.expect("ucinewgame").expect("isready", ["readyok"]);
    const answer = session.search(jobOf(), forever);
    await conversation.told(go);
    conversation.say(line(9, "e2e4"));
    await turn();
    session.cutShort();
    expect(await answer).toMatchObject({
      endedBy: "stop",
      bestMove: "g2g4",
      snapshot: { depth: 9, complete: true },
    });
  });

  test("a search reports each state as soon as it is complete, though many come at a time", async () => {
    const { session, conversation } = await openScripted();
    conversation.expect(start).expect("go depth 60 movetime 60000");
    conversation.expect("ucinewgame").expect("isready", ["readyok"]);
    const depths: number[] = [];
    const answer = session.search(jobOf({ depth: 60 }), forever, ({ kind, snapshot }) => {
      expect(kind).toBe("progress");
      depths.push(snapshot.depth);
    });
    expect(depths).toEqual([]);
    conversation.say(line(1, "e2e4"));
    await turn();
    expect(depths).toEqual([1]);
    conversation.say(...Array.from({ length: 50 }, (_, at) => line(at + 2, "d2d4")), "bestmove d2d4");
    expect(await answer).toMatchObject({
      kind: "done",
      snapshot: { depth: 51 },
      endedBy: "time",
      ponder: undefined,
    });
    expect(depths).toEqual(Array.from({ length: 51 }, (_, at) => at + 1));
  });

  test("a search sets options before, and sets them back after its answer", async () => {
    const { session, conversation } = await openScripted();
    conversation
      .expect("setoption name Skill Level value 3")
      .expect("setoption name MultiPV value 2")
      .expect(start)
      .expect(go, [line(14, "e2e4", "multipv 1 "), line(14, "d2d4", "multipv 2 "), "bestmove d2d4"])
      .expect("setoption name Skill Level value 20")
      .expect("setoption name MultiPV value 1")
      .expect("ucinewgame")
      // The next caller asks for nothing, and gets an engine as new.
      .expect(start)
      .expect(go, [line(14, "e2e4"), "bestmove e2e4"])
      .expect("ucinewgame")
      .expect("isready", ["readyok"]);
    const weak = await session.search(
      jobOf({ multipv: 2, options: { skill_level: 3, uci_chess960: false } }),
      forever,
    );
    expect(weak.snapshot.lines.map(({ moves }) => moves[0])).toEqual(["e2e4", "d2d4"]);
    expect(weak.bestMove).toBe("d2d4");
    await session.search(jobOf(), forever);
  });

  test("a search switches to Chess960 and back by the position", async () => {
    const { session, conversation } = await openScripted();
    const job = jobOf({ fen: "4k3/8/8/8/8/8/8/RK5R w HA - 0 1", chess960: true });
    conversation
      .expect("setoption name UCI_Chess960 value true")
      .expect(`position fen ${job.position.root}`)
      .expect(go, [line(14, "b1h1"), "bestmove b1h1"])
      .expect("setoption name UCI_Chess960 value false")
      .expect("ucinewgame")
      .expect("isready", ["readyok"]);
    expect((await session.search(job, forever)).bestMove).toBe("b1h1");
  });

  test("a search sends nothing that the engine does not declare", async () => {
    const bare = script()
      .expect("uci", ["id name Bare", "uciok"])
      .expect("isready", ["readyok"])
      .expect(start)
      .expect(go, [line(14, "e2e4"), "bestmove e2e4"])
      .expect("ucinewgame")
      .expect("isready", ["readyok"]);
    const { session } = await openScripted(bare);
    const options = { skill_level: 3 };
    expect((await session.search(jobOf({ multipv: 2, options }), forever)).bestMove).toBe("e2e4");
  });

  test("a search ends by its depth only if that depth is complete", async () => {
    const { session, conversation } = await openScripted();
    conversation
      .expect(start)
      .expect(go, ["info depth 14 score cp 30 upperbound time 9 pv e2e4", "bestmove e2e4"])
      .expect("ucinewgame")
      .expect("isready", ["readyok"]);
    expect(await session.search(jobOf(), forever)).toMatchObject({
      endedBy: "time",
      snapshot: { depth: 14, complete: false },
    });
  });

  test("a search sends no default values, and no option that callers may not set", async () => {
    const { session, conversation } = await openScripted();
    conversation
      .expect(start)
      .expect(go, [line(14, "e2e4"), "bestmove e2e4"])
      .expect("ucinewgame")
      .expect("isready", ["readyok"]);
    const options = { skill_level: 20, uci_chess960: false, uci_elo: 1500, "Debug Log File": 1 };
    await session.search(jobOf({ options }), forever);
  });

  test("an engine that gives a second answer to a search is used no more", async () => {
    const { session, conversation } = await openScripted();
    const stutter = ["bestmove e2e4", "bestmove d2d4", line(15, "d2d4"), "bestmove (none)"];
    conversation.expect(start).expect(go, [line(14, "e2e4"), ...stutter]);
    const depths: number[] = [];
    const answer = await session.search(jobOf(), forever, ({ snapshot }) => depths.push(snapshot.depth));
    expect(answer).toMatchObject({ bestMove: "e2e4", snapshot: { depth: 14 } });
    await turn();
    expect(depths).toEqual([14]);
    expect(await session.exited).toMatchObject({ kind: "protocol_error" });
  });

  test("an engine that answers before its search began is used no more", async () => {
    const { session, conversation } = await openScripted();
    conversation
      .expect(start)
      .expect(go, [line(14, "e2e4"), "bestmove e2e4"])
      .expect("ucinewgame")
      .expect("isready", ["readyok", "bestmove a2a3"]);
    await session.search(jobOf(), forever);
    expect(await session.exited).toMatchObject({ kind: "protocol_error" });
  });

  test("a search is refused beside another one", async () => {
    const { session, conversation } = await openScripted();
    conversation.expect(start).expect(go).expect("ucinewgame").expect("isready", ["readyok"]);
    const first = session.search(jobOf(), forever);
    await conversation.told(go);
    await expect(session.search(jobOf(), forever)).rejects.toThrow("one search at a time");
    conversation.say(line(14, "e2e4"), "bestmove e2e4");
    expect((await first).bestMove).toBe("e2e4");
  });
});

describe("a caller that leaves", () => {
  const searching = async () => {
    const { session, conversation } = await openScripted();
    const caller = new AbortController();
    conversation.expect(start).expect(go);
    const depths: number[] = [];
    const search = session.search(jobOf(), caller.signal, ({ snapshot }) => depths.push(snapshot.depth));
    await conversation.told(go);
    return { session, conversation, caller, search, depths };
  };

  test("a caller that leaves gets its own abort reason at once, and the engine is stopped", async () => {
    const { session, conversation, caller, search } = await searching();
    conversation.expect("stop");
    caller.abort(new Error("the deadline has passed"));
    expect(conversation.sent.at(-1)).toBe("stop");
    await expect(search).rejects.toThrow("the deadline has passed");
    expect(session.alive).toBe(true);
    expect(session.state).toBe("stopping");
  });

  test("a caller that leaves has an engine that is busy until its bestmove, and is cleaned then", async () => {
    const { session, conversation, caller, search } = await searching();
    conversation.expect("stop");
    caller.abort();
    await expect(search).rejects.toThrow();

    const other = session.search(jobOf(), forever);
    await turn();
    expect(conversation.sent.at(-1)).toBe("stop");
    conversation
      .expect("ucinewgame")
      .expect(start)
      .expect(go, [line(14, "d2d4"), "bestmove d2d4"])
      .expect("ucinewgame")
      .expect("isready", ["readyok"]);
    conversation.say(line(3, "e2e4"), "bestmove e2e4");
    expect((await other).bestMove).toBe("d2d4");
  });

  test.each([
    [
      "says its bestmove",
      (engine: Script) => engine.expect("ucinewgame").expect("isready", ["readyok"]).say("bestmove e2e4"),
    ],
    ["is gone", (engine: Script) => engine.hangUp()],
  ])("a caller that leaves has an engine that is not free until it %s", async (_, change) => {
    const { session, conversation, caller, search } = await searching();
    conversation.expect("stop");
    caller.abort();
    await expect(search).rejects.toThrow();
    let free = false;
    const freed = session.free.then(() => {
      free = true;
    });
    await turn();
    expect(free).toBe(false);
    change(conversation);
    await freed;
    await session.free;
  });

  test("a caller that leaves after the first states gets no more of them, and the engine is stopped and cleaned", async () => {
    const { session, conversation, caller, search, depths } = await searching();
    conversation.say(line(1, "e2e4"));
    await turn();
    conversation.expect("stop", [line(2, "e2e4"), line(3, "e2e4"), "bestmove e2e4"]);
    conversation.expect("ucinewgame").expect("isready", ["readyok"]);
    caller.abort(new Error("seen enough"));
    await expect(search).rejects.toThrow("seen enough");
    await turn();
    expect(depths).toEqual([1]);
    expect(session.state).toBe("idle");
  });

  test.each([
    ["before its first line", "bestmove e2e4"],
    ["and has no move", "bestmove (none)"],
  ])("a caller that leaves keeps an engine that stops %s", async (_, answer) => {
    const { session, conversation, caller, search } = await searching();
    conversation.expect("stop", [answer]).expect("ucinewgame").expect("isready", ["readyok"]);
    caller.abort();
    await expect(search).rejects.toThrow();
    await conversation.told("isready", 2);
    expect(session.alive).toBe(true);
  });

  test("a caller that leaves before the search began sends the engine nothing", async () => {
    const { session } = await openScripted();
    const gone = AbortSignal.abort(new Error("gone"));
    await expect(session.search(jobOf(), gone)).rejects.toThrow("gone");
  });

  test("a caller that leaves has no listener left on its signal", async () => {
    const { session, conversation } = await openScripted();
    const { signal } = new AbortController();
    conversation
      .expect(start)
      .expect(go, [line(14, "e2e4"), "bestmove e2e4"])
      .expect("ucinewgame")
      .expect("isready", ["readyok"]);
    await session.search(jobOf(), signal);
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });
});
