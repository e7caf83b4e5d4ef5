import { describe, expect, test } from "vitest";
import { startFen } from "../chess/judged.ts";
import { jobOf } from "./job-of.ts";
import { openScripted } from "./scripted-session.ts";

const forever = new AbortController().signal;
const start = `position fen ${startFen}`;
const line = (depth: number, move: string, more = "") =>
  `info depth ${depth} seldepth ${depth + 2} score cp 30 wdl 80 900 20 nodes ${depth * 100} nps 1000 hashfull 1 tbhits 0 time ${depth} ${more}pv ${move}`;

describe("a search", () => {
  test("a search sends each of its limits, and last the moves that it may search", async () => {
    const { session, conversation } = await openScripted();
    const both = "go depth 20 nodes 5000 movetime 60000 searchmoves d2d4 e2e4";
    conversation
      .expect(start)
      .expect(both, [line(13, "e2e4 e7e5"), line(14, "d2d4"), "bestmove e2e4"])
      .expect("ucinewgame")
      .expect("isready", ["readyok"]);
    const job = jobOf({ depth: 20, nodes: 5000, searchMoves: ["d2d4", "e2e4"] });
    expect(await session.search(job, forever)).toMatchObject({ endedBy: "nodes", snapshot: { depth: 14 } });
  });

  test.each([
    ["until its nodes are used up", 40, "nodes"],
    ["to the greatest depth that there is", 245, "depth"],
  ])("a search without a depth goes on %s", async (_, depth, endedBy) => {
    const { session, conversation } = await openScripted();
    conversation
      .expect(start)
      .expect("go nodes 100000 movetime 60000", [line(depth, "e2e4"), "bestmove e2e4"])
      .expect("ucinewgame")
      .expect("isready", ["readyok"]);
    const done = await session.search(jobOf({ depth: undefined, nodes: 100_000 }), forever);
    expect(done).toMatchObject({ endedBy, snapshot: { depth } });
  });

  test("a search ends by its nodes if the engine does not print the last count", async () => {
    const { session, conversation } = await openScripted();
    conversation
      .expect(start)
      .expect("go nodes 5000 movetime 60000", [line(9, "e2e4"), "bestmove e2e4"])
      .expect("ucinewgame")
      .expect("isready", ["readyok"]);
    const done = await session.search(jobOf({ depth: undefined, nodes: 5000 }), forever);
    expect(done).toMatchObject({ endedBy: "nodes", snapshot: { depth: 9, counters: { nodes: 900 } } });
  });

  test("a search does not end by its nodes if its time was up as well", async () => {
    const { session, conversation } = await openScripted();
    conversation.expect(start).expect("go nodes 900 movetime 5");
    conversation.expect("ucinewgame").expect("isready", ["readyok"]);
    const answer = session.search(jobOf({ depth: undefined, nodes: 900, movetimeMs: 5 }), forever);
    await conversation.told("go nodes 900 movetime 5");
    await new Promise((resolve) => setTimeout(resolve, 20));
    conversation.say("info depth 4 score cp 30 nodes 900 time 4 pv e2e4", "bestmove e2e4");
    expect(await answer).toMatchObject({ endedBy: "time" });
  });

  test.each([
    ["in a line", [line(1, "g1f3")]],
    ["as its answer", [line(1, "e2e4"), "bestmove d2d4"]],
  ])("a search fails if the engine names %s a move that it was not to search", async (_, said) => {
    const { session, conversation } = await openScripted();
    conversation.expect(start).expect("go depth 14 movetime 60000 searchmoves e2e4", said);
    // Somebody has to read the line.
    const answer = session.search(jobOf({ searchMoves: ["e2e4"] }), forever, () => {});
    await expect(answer).rejects.toMatchObject({
      kind: "protocol_error",
      message: expect.stringMatching(/^(g1f3|d2d4) is not legal in .*, or none of e2e4$/),
    });
  });

  test("a search has no more lines than moves that it may search", async () => {
    const { session, conversation } = await openScripted();
    conversation
      .expect("setoption name MultiPV value 5")
      .expect(start)
      .expect("go depth 14 movetime 60000 searchmoves d2d4 e2e4", [
        line(14, "e2e4", "multipv 1 "),
        line(14, "d2d4", "multipv 2 "),
        "bestmove e2e4",
      ])
      .expect("setoption name MultiPV value 1")
      .expect("ucinewgame")
      .expect("isready", ["readyok"]);
    const job = jobOf({ multipv: 5, searchMoves: ["d2d4", "e2e4"] });
    const { endedBy, snapshot } = await session.search(job, forever);
    expect({ endedBy, lines: snapshot.lines.length }).toEqual({ endedBy: "depth", lines: 2 });
  });
});
