import { afterEach, beforeEach, expect, test } from "vitest";
import { StopReason } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import { giveClockBack, openTimers, takeClock } from "../../engine/clock.ts";
import { bestOf, done, overloaded, stateOf, talk } from "./talk.ts";

beforeEach(takeClock);
afterEach(giveClockBack);

test("a UCI search is retried after a temporary error if the clock allows it", async () => {
  const { hear, hearWithin, last, searches } = talk();
  await hear("go movetime 2000");
  last().find(stateOf(4, ["e2e4"]));
  await hear();
  last().fail(overloaded(500));
  expect(await hear()).toEqual(["info string busy; retrying in 500 ms"]);
  await hearWithin(500);
  expect(searches).toHaveLength(2);
  // This depth is less than the depth before the failure, so it is not printed.
  last().find(stateOf(3, ["d2d4"]));
  expect(await hear()).toEqual([]);
  last().find(done(5, ["c2c4"], StopReason.MOVETIME));
  expect(bestOf(await hear())).toEqual(["bestmove c2c4"]);
});

test("a UCI search without time for a retry plays the best move so far at the end of its time", async () => {
  const { hear, hearWithin, last } = talk();
  await hear("go movetime 500");
  last().find(stateOf(4, ["e2e4"]));
  await hear();
  last().fail(overloaded(1000));
  expect(await hearWithin(529)).toEqual(["info string busy; retrying in 1000 ms"]);
  expect(await hearWithin(1)).toEqual(["bestmove e2e4"]);
});

test("a UCI search that has found no move plays any legal move at the end of its time, with a note", async () => {
  const { hear, hearWithin, last, searches } = talk();
  await hear("go movetime 1000");
  last().fail(overloaded(34_000));
  expect(await hearWithin(1029)).toEqual(["info string busy; retrying in 34000 ms"]);
  expect(await hearWithin(1)).toEqual([
    expect.stringMatching(/^info string no move was found: \w{4} is only the first that is legal$/),
    expect.stringMatching(/^bestmove [a-h][12][a-h][34]$/),
  ]);
  expect(searches).toHaveLength(1);
});

test("a UCI search that has found no move waits for its retry as long as the clock allows", async () => {
  const { hear, hearWithin, last } = talk();
  await hear("go wtime 300000 btime 300000");
  last().fail(overloaded(47_000));
  expect(await hear()).toEqual(["info string busy; retrying in 47000 ms"]);
  expect(bestOf(await hearWithin(47_000))).toEqual([]);
  last().find(stateOf(1, ["e2e4"]));
  expect(bestOf(await hear())).toEqual(["bestmove e2e4"]);
});

test("a UCI search without a clock waits at most a minute for a retry", async () => {
  const { hear, last } = talk();
  await hear("go depth 10");
  last().fail(overloaded(60_000));
  expect(await hear()).toEqual(["info string busy; retrying in 60000 ms"]);
  await hear("stop", "go depth 10");
  last().fail(overloaded(60_001));
  expect(await hear()).toEqual(["info string busy", "bestmove (none)"]);
});

test("a UCI search without a clock ends after six failures", async () => {
  const { hear, hearWithin, searches } = talk();
  await hear("go depth 10");
  const heard: string[] = [];
  for (let tries = 1; tries <= 6; tries++) {
    searches[tries - 1]?.fail(overloaded());
    heard.push(...(await hearWithin(6400)));
  }
  expect(heard.slice(0, 5)).toEqual(
    [200, 400, 800, 1600, 3200].map((ms) => `info string busy; retrying in ${ms} ms`),
  );
  expect(bestOf(heard)).toHaveLength(1);
  expect(searches).toHaveLength(6);
});

test("a UCI search with a clock is retried after every failure until its time ends", async () => {
  const { hear, hearWithin, searches, last } = talk();
  await hear("go wtime 300000 btime 300000");
  for (let tries = 1; tries <= 10; tries++) {
    last().fail(overloaded());
    expect(bestOf(await hearWithin(10_000))).toEqual([]);
    expect(searches).toHaveLength(tries + 1);
  }
  last().find(stateOf(1, ["e2e4"]));
  expect(bestOf(await hear())).toEqual(["bestmove e2e4"]);
});

test("a UCI search can be stopped while it waits for a retry", async () => {
  const { hear, last } = talk();
  await hear("go infinite");
  last().find(stateOf(3, ["e2e4"]));
  await hear();
  last().fail(overloaded(5000));
  await hear();
  expect(await hear("stop")).toEqual(["bestmove e2e4"]);
  expect(openTimers()).toBe(0);
});
