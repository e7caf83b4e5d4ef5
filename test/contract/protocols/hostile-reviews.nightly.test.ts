import { expect, test } from "vitest";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { useApp } from "../../support/running-app.ts";
import { startStopwatch, timesOf } from "../../support/stopwatch.ts";
import { post } from "./post.ts";

const app = useApp({}, { engines: createEnginesInProcess() });
const pgnMaxBytes = 262_144;
const tries = 20;

/** Returns the longest pause of the event loop in milliseconds while `act` runs. The server runs in the same event loop. */
async function longestPauseMs(act: () => Promise<void>): Promise<number> {
  let longestMs = 0;
  let sinceTurn = startStopwatch();
  let looking = true;
  const look = () => {
    longestMs = Math.max(longestMs, sinceTurn());
    if (looking) {
      sinceTurn = startStopwatch();
      setImmediate(look);
    }
  };
  setImmediate(look);
  await act();
  looking = false;
  return longestMs;
}

const upTo = (part: string, bytes = pgnMaxBytes) => part.repeat(Math.floor(bytes / Buffer.byteLength(part)));

test.each([
  ["opening brackets", { pgn: upTo("(") }, 400],
  ["nested variations", { pgn: `1. e4 ${upTo("(1. d4 ", pgnMaxBytes - 10)}` }, 400],
  ["a comment of 256 KiB", { pgn: `1. e4 {${upTo("é", pgnMaxBytes - 10)}}`, depth: 1 }, 200],
  ["an endless comment", { pgn: `1. e4 {${upTo("}{", pgnMaxBytes - 10)}` }, 400],
  ["quotation marks", { pgn: upTo('"', pgnMaxBytes - 20) }, 400],
  ["tags", { pgn: upTo('[a "b"]\n') }, 400],
  ["moves that repeat the position", { pgn: upTo("Nf3 Nf6 Ng1 Ng8 ") }, 400],
  ["variations of one move", { pgn: `1. e4 ${upTo("(1. d4) ", pgnMaxBytes - 10)}` }, 400],
  ["the maximum number of variations", { pgn: `1. e4 ${"(1. d4 {a}) ".repeat(4999)}`, depth: 1 }, 200],
  ["empty moves", `{"moves":[${upTo('"",', 524_000)}""]}`, 413],
])("a review of %s delays other requests for less than 50 ms", async (_, body, status) => {
  const ask = async () => {
    expect((await post(`${app.url}/v1/review`, body as never)).status).toBe(status);
  };
  // The first review is slower, because its code is not compiled yet.
  await ask();
  await ask();
  const { medianMs, worstMs } = await timesOf(tries, () => longestPauseMs(ask));
  expect(medianMs).toBeLessThan(30);
  expect(worstMs).toBeLessThan(50);
});
