import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { StopReason } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import { KibitzError } from "../../../src/errors/errors.ts";
import { giveClockBack, openTimers, takeClock } from "../../engine/clock.ts";
import { bestOf, done, mateIn, notesOf, overloaded, stateOf, talk } from "./talk.ts";

beforeEach(takeClock);
afterEach(giveClockBack);

describe("stop", () => {
  test("the command stop prints the best move so far immediately, and cancels the search", async () => {
    const { hear, last } = talk();
    await hear("go infinite");
    last().find(stateOf(3, ["e2e4", "e7e5"]));
    last().find(stateOf(4, ["d2d4", "d7d5"]));
    await hear();
    expect(await hear("stop")).toEqual(["bestmove d2d4 ponder d7d5"]);
    expect(last().signal.aborted).toBe(true);
    expect(openTimers()).toBe(0);
  });

  test("the command stop waits for the first move of the search", async () => {
    const { hear, hearWithin, last } = talk();
    await hear("go infinite", "stop");
    expect(await hearWithin(50)).toEqual([]);
    last().find(stateOf(1, ["e2e4"]));
    expect(bestOf(await hear())).toEqual(["bestmove e2e4"]);
  });

  test("the command stop waits for the first move, even if this move is in the final message", async () => {
    const { hear, last } = talk();
    await hear("go infinite", "stop");
    last().find(done(8, ["e2e4"]));
    expect(bestOf(await hear())).toEqual(["bestmove e2e4"]);
  });

  test("the command stop prints any legal move with a note if a clock runs and no move is found within 120 ms", async () => {
    const { hear, hearWithin } = talk();
    await hear("position startpos moves e2e4", "go movetime 9000 searchmoves c7c5", "stop");
    expect(await hearWithin(119)).toEqual([]);
    expect(await hearWithin(1)).toEqual([
      "info string no move was found: c7c5 is only the first that is legal",
      "bestmove c7c5",
    ]);
  });

  test.each(["go infinite", "go depth 9", "go nodes 900", "go mate 2", "go"])(
    "the command stop prints bestmove (none) for %j if no move is found within 120 ms",
    async (go) => {
      const { hear, hearWithin } = talk();
      await hear("position startpos moves e2e4", go, "stop");
      expect(await hearWithin(119)).toEqual([]);
      expect(await hearWithin(1)).toEqual(["bestmove (none)"]);
    },
  );

  test("the command stop prints nothing if no search runs", async () => {
    const { hear, hearWithin, last } = talk();
    await hear("go depth 2");
    last().find(done(2, ["e2e4"]));
    expect(bestOf(await hear("stop", "stop"))).toEqual(["bestmove e2e4"]);
    expect(await hear("stop", "ponderhit")).toEqual([]);
    expect(await hearWithin(1000)).toEqual([]);
  });
});

describe("an infinite search", () => {
  test("an infinite search that has ended waits for stop before it prints its best move, and prints a note", async () => {
    const { hear, hearWithin, last } = talk();
    await hear("go infinite");
    last().find(done(24, ["e2e4"], StopReason.MOVETIME));
    expect(notesOf(await hear())).toEqual(["info string the search has ended: the best move waits for stop"]);
    expect(await hearWithin(100_000)).toEqual([]);
    expect(await hear("isready", "stop")).toEqual(["readyok", "bestmove e2e4"]);
    // A search that has ended needs no cancellation.
    expect(last().signal.aborted).toBe(false);
  });

  test("an infinite search is retried until it succeeds or is stopped", async () => {
    const { hear, hearWithin, last, searches } = talk();
    await hear("go infinite");
    last().fail(overloaded(50_000));
    expect(await hearWithin(50_000)).toEqual(["info string busy; retrying in 50000 ms"]);
    for (let failures = 2; failures <= 9; failures++) {
      last().fail(overloaded());
      await hearWithin(10_000);
    }
    expect(searches).toHaveLength(10);
    last().find(stateOf(3, ["e2e4"]));
    await hear();
    expect(await hear("stop")).toEqual(["bestmove e2e4"]);
  });

  test("an infinite search that has failed permanently waits for stop", async () => {
    const { hear, last } = talk();
    await hear("go infinite");
    last().find(stateOf(5, ["g1f3"]));
    last().fail(new KibitzError("invalid_api_key", "no such key"));
    expect(notesOf(await hear())).toEqual([
      "info string no such key",
      "info string the search has ended: the best move waits for stop",
    ]);
    expect(await hear("stop")).toEqual(["bestmove g1f3"]);
  });
});

describe("a clock", () => {
  test("kibitz uci ends a search when the time limit is over, even if the service continues the search", async () => {
    const { hear, hearWithin, last } = talk();
    await hear("go wtime 30960 btime 1000");
    last().find(stateOf(6, ["e2e4"]));
    expect(bestOf(await hearWithin(1029))).toEqual([]);
    expect(await hearWithin(1)).toEqual(["bestmove e2e4"]);
  });

  test("kibitz uci ends a search at a time limit below the minimum of the API", async () => {
    const { hear, hearWithin, last } = talk();
    await hear("go movetime 5");
    last().find(stateOf(2, ["e2e4"]));
    expect(bestOf(await hearWithin(34))).toEqual([]);
    expect(await hearWithin(1)).toEqual(["bestmove e2e4"]);
    expect(last().signal.aborted).toBe(true);
  });

  test("a search that has found no move at its time limit continues for up to 300 ms", async () => {
    const { hear, hearWithin, last } = talk();
    await hear("go movetime 5");
    expect(await hearWithin(334)).toEqual([]);
    last().find(stateOf(1, ["e2e4"]));
    expect(bestOf(await hear())).toEqual(["bestmove e2e4"]);
    await hear("go movetime 5");
    expect(bestOf(await hearWithin(335))).toHaveLength(1);
    // The wait is bounded by the remaining time on the clock.
    await hear("go wtime 100");
    expect(bestOf(await hearWithin(69))).toEqual([]);
    expect(bestOf(await hearWithin(1))).toHaveLength(1);
  });

  test.each([
    "btime 100",
    "btime 300000 binc 2000",
    "winc 1000",
    "movestogo 40",
    "wtime btime",
    "wtime soon",
  ])("the command go %s without a time for White prints a move within a second", async (clocks) => {
    const { hear, hearWithin, last } = talk();
    expect(await hear("setoption name Move Overhead value 5000", `go ${clocks}`)).toEqual([
      "info string go names no time for white: a move comes within a second",
    ]);
    last().find(stateOf(9, ["e2e4"]));
    expect(bestOf(await hearWithin(999))).toEqual(["bestmove e2e4"]);
  });

  test.each([
    "wtime 0",
    "wtime -1",
    "wtime -500 winc 2000",
    "wtime 1 movestogo 1",
    "wtime -99999999999999999999",
  ])("the command go %s with an expired clock prints the best move after 50 ms", async (clock) => {
    const { hear, hearWithin, last } = talk();
    await hear(`go ${clock}`);
    expect(last().request).toMatchObject({ movetimeMs: 50 });
    last().find(stateOf(1, ["e2e4"]));
    expect(bestOf(await hearWithin(49))).toEqual([]);
    expect(await hearWithin(1)).toEqual(["bestmove e2e4"]);
  });

  test("a search with an expired clock and no move continues for up to 300 ms", async () => {
    const { hear, hearWithin, last } = talk();
    await hear("go wtime -20");
    expect(await hearWithin(349)).toEqual([]);
    last().find(stateOf(1, ["e2e4"]));
    expect(bestOf(await hear())).toEqual(["bestmove e2e4"]);
  });
});

describe("pondering", () => {
  test("a pondering search has no time limit before ponderhit", async () => {
    const { hear, hearWithin, last } = talk();
    await hear("position startpos moves e2e4 e7e5", "go ponder wtime 30960 btime 30000");
    last().find(stateOf(9, ["g1f3"]));
    expect(bestOf(await hearWithin(20_000))).toEqual([]);
    await hear("ponderhit");
    expect(await hearWithin(1029)).toEqual([]);
    expect(await hearWithin(1)).toEqual(["bestmove g1f3"]);
  });

  test("a pondering search that has ended prints its move immediately after ponderhit", async () => {
    const { hear, last } = talk();
    await hear("go ponder depth 8");
    last().find(done(8, ["g1f3"]));
    expect(bestOf(await hear())).toEqual([]);
    expect(await hear("ponderhit")).toEqual(["bestmove g1f3"]);
  });

  test("a pondering search prints its move after stop", async () => {
    const { hear, last } = talk();
    await hear("go ponder wtime 30960 btime 30000");
    last().find(stateOf(9, ["g1f3"]));
    await hear();
    expect(await hear("stop")).toEqual(["bestmove g1f3"]);
  });
});

describe("go mate", () => {
  test("the search of go mate ends when the side to move has a mate of at most the requested length", async () => {
    const { hear, last } = talk();
    await hear("position startpos moves e2e4", "go mate 3");
    for (const mate of [2, -4]) {
      last().find(stateOf(8, ["d8h4"], { score: mateIn(mate) }));
    }
    expect(bestOf(await hear())).toEqual([]);
    last().find(stateOf(9, ["d8h4"], { score: mateIn(-3) }));
    expect(bestOf(await hear())).toEqual(["bestmove d8h4"]);
  });

  test("the command go mate prints a note if no mate was found", async () => {
    const { hear, last } = talk();
    await hear("go mate 2");
    last().find(done(20, ["e2e4"], StopReason.NODES));
    const heard = await hear();
    expect(notesOf(heard)).toEqual(["info string no mate in 2 was found"]);
    expect(bestOf(heard)).toEqual(["bestmove e2e4"]);
  });
});

describe("a search under way", () => {
  test("a running search prints its move before the search of the next go starts", async () => {
    const { hear, last, searches } = talk();
    await hear("go infinite");
    last().find(stateOf(3, ["e2e4"]));
    await hear();
    expect(await hear("position startpos moves e2e4", "go depth 1")).toEqual(["bestmove e2e4"]);
    expect(searches[0]?.signal.aborted).toBe(true);
    last().find(done(1, ["e7e5"]));
    expect(bestOf(await hear())).toEqual(["bestmove e7e5"]);
  });

  test("a running search prints its move after quit, and then the session ends", async () => {
    const { hear, last, over } = talk();
    await hear("go infinite");
    last().find(stateOf(3, ["e2e4"]));
    await hear();
    expect(await hear("quit")).toEqual(["bestmove e2e4"]);
    await expect(over).resolves.toBeUndefined();
    expect(last().signal.aborted).toBe(true);
  });
});

describe("the end of standard input", () => {
  test.each(["depth 9", "nodes 900", "movetime 900", "wtime 90000", "btime 90000", "mate 3"])(
    "a search with %s continues after the end of standard input, and the session ends after the search has printed its move",
    async (limit) => {
      const { hear, last, hangUp, over } = talk();
      await hear(`go ${limit}`);
      hangUp();
      last().find(stateOf(3, ["e2e4"]));
      expect(bestOf(await hear())).toEqual([]);
      last().find(done(9, ["d2d4"]));
      expect(bestOf(await hear())).toEqual(["bestmove d2d4"]);
      await expect(over).resolves.toBeUndefined();
    },
  );

  test.each(["", "infinite", "infinite depth 3", "ponder depth 3", "ponder wtime 1000"])(
    "a search with %j prints its move at the end of standard input",
    async (limit) => {
      const { hear, last, hangUp, over } = talk();
      await hear(`go ${limit}`);
      last().find(stateOf(3, ["e2e4"]));
      await hear();
      hangUp();
      expect(bestOf(await hear())).toEqual(["bestmove e2e4"]);
      await expect(over).resolves.toBeUndefined();
      expect(openTimers()).toBe(0);
    },
  );

  test("a session without a running search ends at the end of standard input", async () => {
    const { hear, last, hangUp, over } = talk();
    await hear("go depth 3");
    last().find(done(3, ["e2e4"]));
    await hear();
    hangUp();
    await expect(over).resolves.toBeUndefined();
  });
});
