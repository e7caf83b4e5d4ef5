import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { StopReason } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import { KibitzError } from "../../../src/errors/errors.ts";
import { giveClockBack, openTimers, takeClock } from "../../engine/clock.ts";
import { bestOf, done, mateIn, notesOf, overloaded, stateOf, talk } from "./talk.ts";

beforeEach(takeClock);
afterEach(giveClockBack);

describe("stop", () => {
  test("stop prints the best move so far at once, and cancels the search", async () => {
    const { hear, last } = talk();
    await hear("go infinite");
    last().find(stateOf(3, ["e2e4", "e7e5"]));
    last().find(stateOf(4, ["d2d4", "d7d5"]));
    await hear();
    expect(await hear("stop")).toEqual(["bestmove d2d4 ponder d7d5"]);
    expect(last().signal.aborted).toBe(true);
    expect(openTimers()).toBe(0);
  });

  test("stop before the first move waits for it", async () => {
    const { hear, hearWithin, last } = talk();
    await hear("go infinite", "stop");
    expect(await hearWithin(50)).toEqual([]);
    last().find(stateOf(1, ["e2e4"]));
    expect(bestOf(await hear())).toEqual(["bestmove e2e4"]);
  });

  test("stop before the first move takes the last iteration, too", async () => {
    const { hear, last } = talk();
    await hear("go infinite", "stop");
    last().find(done(8, ["e2e4"]));
    expect(bestOf(await hear())).toEqual(["bestmove e2e4"]);
  });

  test("stop that finds no move for 120 ms plays a legal move if a clock runs, and says so", async () => {
    const { hear, hearWithin } = talk();
    await hear("position startpos moves e2e4", "go movetime 9000 searchmoves c7c5", "stop");
    expect(await hearWithin(119)).toEqual([]);
    expect(await hearWithin(1)).toEqual([
      "info string no move was found: c7c5 is only the first that is legal",
      "bestmove c7c5",
    ]);
  });

  test.each(["go infinite", "go depth 9", "go nodes 900", "go mate 2", "go"])(
    "stop that finds no move for 120 ms leaves %s without a move: no clock runs",
    async (go) => {
      const { hear, hearWithin } = talk();
      await hear("position startpos moves e2e4", go, "stop");
      expect(await hearWithin(119)).toEqual([]);
      expect(await hearWithin(1)).toEqual(["bestmove (none)"]);
    },
  );

  test("stop that comes twice or too late prints nothing more", async () => {
    const { hear, hearWithin, last } = talk();
    await hear("go depth 2");
    last().find(done(2, ["e2e4"]));
    expect(bestOf(await hear("stop", "stop"))).toEqual(["bestmove e2e4"]);
    expect(await hear("stop", "ponderhit")).toEqual([]);
    expect(await hearWithin(1000)).toEqual([]);
  });
});

describe("an infinite search", () => {
  test("an infinite search that has ended keeps its best move until stop, and says that it has ended", async () => {
    const { hear, hearWithin, last } = talk();
    await hear("go infinite");
    last().find(done(24, ["e2e4"], StopReason.MOVETIME));
    expect(notesOf(await hear())).toEqual(["info string the search has ended: the best move waits for stop"]);
    expect(await hearWithin(100_000)).toEqual([]);
    expect(await hear("isready", "stop")).toEqual(["readyok", "bestmove e2e4"]);
    // The search has ended by itself: there is nothing to cancel.
    expect(last().signal.aborted).toBe(false);
  });

  test("an infinite search is retried until it is answered or stopped", async () => {
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

  test("an infinite search that has failed for good waits for stop", async () => {
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
  test("kibitz uci keeps a clock that the service does not keep", async () => {
    const { hear, hearWithin, last } = talk();
    await hear("go wtime 30960 btime 1000");
    last().find(stateOf(6, ["e2e4"]));
    expect(bestOf(await hearWithin(1029))).toEqual([]);
    expect(await hearWithin(1)).toEqual(["bestmove e2e4"]);
  });

  test("a clock ends searches that are too short for a request", async () => {
    const { hear, hearWithin, last } = talk();
    await hear("go movetime 5");
    last().find(stateOf(2, ["e2e4"]));
    expect(bestOf(await hearWithin(34))).toEqual([]);
    expect(await hearWithin(1)).toEqual(["bestmove e2e4"]);
    expect(last().signal.aborted).toBe(true);
  });

  test("a clock that ends before a first move waits for the move as long as it may", async () => {
    const { hear, hearWithin, last } = talk();
    await hear("go movetime 5");
    expect(await hearWithin(334)).toEqual([]);
    last().find(stateOf(1, ["e2e4"]));
    expect(bestOf(await hear())).toEqual(["bestmove e2e4"]);
    await hear("go movetime 5");
    expect(bestOf(await hearWithin(335))).toHaveLength(1);
    // If the clock has less, the wait is shorter.
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
  ])("go %s, which names no time for White, brings a move of White within a second", async (clocks) => {
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
  ])("go %s, a clock that has run out, plays the best move of 50 ms", async (clock) => {
    const { hear, hearWithin, last } = talk();
    await hear(`go ${clock}`);
    expect(last().request).toMatchObject({ movetimeMs: 50 });
    last().find(stateOf(1, ["e2e4"]));
    expect(bestOf(await hearWithin(49))).toEqual([]);
    expect(await hearWithin(1)).toEqual(["bestmove e2e4"]);
  });

  test("a clock that has run out waits 300 ms more for a move that was searched", async () => {
    const { hear, hearWithin, last } = talk();
    await hear("go wtime -20");
    expect(await hearWithin(349)).toEqual([]);
    last().find(stateOf(1, ["e2e4"]));
    expect(bestOf(await hear())).toEqual(["bestmove e2e4"]);
  });
});

describe("pondering", () => {
  test("pondering starts no clock before ponderhit, and then the clock of the move", async () => {
    const { hear, hearWithin, last } = talk();
    await hear("position startpos moves e2e4 e7e5", "go ponder wtime 30960 btime 30000");
    last().find(stateOf(9, ["g1f3"]));
    expect(bestOf(await hearWithin(20_000))).toEqual([]);
    await hear("ponderhit");
    expect(await hearWithin(1029)).toEqual([]);
    expect(await hearWithin(1)).toEqual(["bestmove g1f3"]);
  });

  test("pondering that has found its move answers ponderhit at once", async () => {
    const { hear, last } = talk();
    await hear("go ponder depth 8");
    last().find(done(8, ["g1f3"]));
    expect(bestOf(await hear())).toEqual([]);
    expect(await hear("ponderhit")).toEqual(["bestmove g1f3"]);
  });

  test("pondering in vain ends with stop", async () => {
    const { hear, last } = talk();
    await hear("go ponder wtime 30960 btime 30000");
    last().find(stateOf(9, ["g1f3"]));
    await hear();
    expect(await hear("stop")).toEqual(["bestmove g1f3"]);
  });
});

describe("go mate", () => {
  test("go mate ends with a mate as short as requested, by the side to move", async () => {
    const { hear, last } = talk();
    await hear("position startpos moves e2e4", "go mate 3");
    for (const mate of [2, -4]) {
      last().find(stateOf(8, ["d8h4"], { score: mateIn(mate) }));
    }
    expect(bestOf(await hear())).toEqual([]);
    last().find(stateOf(9, ["d8h4"], { score: mateIn(-3) }));
    expect(bestOf(await hear())).toEqual(["bestmove d8h4"]);
  });

  test("go mate says that there is no such mate", async () => {
    const { hear, last } = talk();
    await hear("go mate 2");
    last().find(done(20, ["e2e4"], StopReason.NODES));
    const heard = await hear();
    expect(notesOf(heard)).toEqual(["info string no mate in 2 was found"]);
    expect(bestOf(heard)).toEqual(["bestmove e2e4"]);
  });
});

describe("a search under way", () => {
  test("a search that another go follows prints its move first", async () => {
    const { hear, last, searches } = talk();
    await hear("go infinite");
    last().find(stateOf(3, ["e2e4"]));
    await hear();
    expect(await hear("position startpos moves e2e4", "go depth 1")).toEqual(["bestmove e2e4"]);
    expect(searches[0]?.signal.aborted).toBe(true);
    last().find(done(1, ["e7e5"]));
    expect(bestOf(await hear())).toEqual(["bestmove e7e5"]);
  });

  test("a search prints its move when its program leaves, and the session ends", async () => {
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
    "a search with %s goes on after standard input has ended, and the session ends with its move",
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
    "a search with %j, which only a command could end, prints its move when standard input ends",
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

  test("a session without a search ends with standard input", async () => {
    const { hear, last, hangUp, over } = talk();
    await hear("go depth 3");
    last().find(done(3, ["e2e4"]));
    await hear();
    hangUp();
    await expect(over).resolves.toBeUndefined();
  });
});
