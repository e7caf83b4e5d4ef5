import { describe, expect, test } from "vitest";
import { startFen } from "../chess/judged.ts";
import { jobOf } from "./job-of.ts";
import { openScripted } from "./scripted-session.ts";

const forever = new AbortController().signal;
const turn = () => new Promise(setImmediate);
const line = (depth: number, move: string) =>
  `info depth ${depth} seldepth ${depth} multipv 1 score cp ${depth} nodes ${depth} nps 1000 hashfull 1 tbhits 0 time ${depth} pv ${move}`;

/** A search of which somebody may want to know states later, and an engine that is in it. */
async function unread() {
  const { session, conversation } = await openScripted();
  conversation.expect(`position fen ${startFen}`).expect("go depth 14 movetime 60000");
  const wanted = Promise.withResolvers<void>();
  const told: number[] = [];
  const answer = session.search(
    jobOf(),
    forever,
    ({ snapshot }) => told.push(snapshot.depth),
    wanted.promise,
  );
  // Where a test ends the engine, nobody waits for it.
  answer.catch(() => {});
  return {
    session,
    conversation,
    answer,
    told,
    want: async () => {
      wanted.resolve();
      await turn();
    },
    say: async (...lines: readonly string[]) => {
      conversation.say(...lines);
      await turn();
    },
    cleaned: () => conversation.expect("ucinewgame").expect("isready", ["readyok"]),
  };
}

describe("a search that nobody watches", () => {
  test("a search that nobody watches reports no states, and has the whole answer at its end", async () => {
    const { answer, told, say, cleaned } = await unread();
    cleaned();
    await say(line(12, "d2d4"), line(13, "d2d4"), line(14, "e2e4"), "bestmove e2e4 ponder e7e5");
    expect(await answer).toEqual({
      kind: "done",
      bestMove: "e2e4",
      ponder: "e7e5",
      endedBy: "depth",
      snapshot: {
        depth: 14,
        complete: true,
        lines: [
          {
            depth: 14,
            seldepth: 14,
            score: { value: { kind: "cp", cp: 14 }, bound: "exact", wdl: undefined },
            moves: ["e2e4"],
          },
        ],
        counters: { nodes: 14, nps: 1000, timeMs: 14, hashfull: 1, tbhits: 0 },
      },
    });
    expect(told).toEqual([]);
  });

  test("a search reports the newest state at once to a late watcher, then each one", async () => {
    const { answer, told, want, say, cleaned } = await unread();
    await say(
      line(1, "e2e4"),
      line(2, "e2e4"),
      line(3, "e2e4").replace("score cp 3", "score cp 3 upperbound"),
    );
    expect(told).toEqual([]);
    await want();
    expect(told).toEqual([2]);
    await say(line(3, "d2d4"), line(4, "d2d4"));
    expect(told).toEqual([2, 3, 4]);
    cleaned();
    await say(line(14, "d2d4"), "bestmove d2d4");
    expect(await answer).toMatchObject({ bestMove: "d2d4", endedBy: "depth" });
    expect(told).toEqual([2, 3, 4, 14]);
  });

  test("a search has no state for a watcher before its first line, or after its end", async () => {
    const early = await unread();
    await early.want();
    expect(early.told).toEqual([]);
    early.cleaned();
    await early.say(line(14, "e2e4"), "bestmove e2e4");
    expect(early.told).toEqual([14]);
    const late = await unread();
    late.cleaned();
    await late.say(line(14, "e2e4"), "bestmove e2e4");
    await late.want();
    expect(late.told).toEqual([]);
  });

  test("a search that nobody watches and that is cut short has its last complete iteration", async () => {
    const { session, conversation, answer, told, say, cleaned } = await unread();
    await say(line(1, "e2e4"), line(2, "d2d4"));
    conversation.expect("stop");
    session.cutShort();
    cleaned();
    await say(line(3, "a2a3"), "bestmove a2a3");
    expect(await answer).toMatchObject({ bestMove: "a2a3", endedBy: "stop", snapshot: { depth: 2 } });
    expect(told).toEqual([2]);
  });

  test("a search that nobody watches and that is cut short without an iteration has its first line", async () => {
    const { session, conversation, answer, say, cleaned } = await unread();
    session.cutShort();
    await turn();
    conversation.expect("stop");
    await say(line(1, "e2e4"));
    cleaned();
    await say("bestmove e2e4");
    expect(await answer).toMatchObject({ endedBy: "stop", snapshot: { complete: false } });
  });

  test.each([
    ["an illegal line", [line(13, "e2e4"), line(14, "e2e5"), "bestmove e2e4"], /e2e5 is not legal/],
    ["an illegal best move", [line(14, "e2e4"), "bestmove e2e5"], /e2e5 is not legal/],
    ["no line", ["info depth 1 currmove e2e4 currmovenumber 1", "bestmove e2e4"], /after no line/],
    ["that it refuses the position", [line(1, "e2e4"), "info string CRITICAL ERROR: no king"], /no king/],
  ])("a search that nobody watches fails if its engine answers with %s", async (_, lines, message) => {
    const { answer, session, say } = await unread();
    await say(...lines);
    await expect(answer).rejects.toMatchObject({
      kind: "protocol_error",
      message: expect.stringMatching(message),
    });
    expect(session.alive).toBe(false);
  });

  test("a search that nobody watches counts unread lines as signs of life and towards the output limit", async () => {
    const { answer, say } = await unread();
    await say(...Array.from({ length: 20_000 }, () => line(1, "e2e4")));
    await expect(answer).rejects.toMatchObject({ kind: "flooded" });
  });
});
