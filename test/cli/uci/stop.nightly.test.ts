import { expect, onTestFinished, test } from "vitest";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { startRelay } from "../../support/relay.ts";
import { useApp } from "../../support/running-app.ts";
import { startStopwatch, timesOf } from "../../support/stopwatch.ts";
import { startUci, type UciTalk } from "./start-session.ts";

/** docs/uci.md promises that the response to `stop` takes at most this time. */
const promisedMs = 200;
const usualMs = 100;
const tries = 25;

/** Returns the milliseconds from `stop` to `bestmove`. If the engine waits for a processor core, this time is included. */
async function stopMs({ say, until }: UciTalk, found: RegExp): Promise<number> {
  say("go infinite");
  await until(found);
  const stopwatch = startStopwatch();
  say("stop");
  await until(/^bestmove /);
  return stopwatch();
}

function uci(...args: readonly string[]): UciTalk {
  const talk = startUci(args);
  onTestFinished(async () => {
    talk.hangUp();
    await talk.ended;
  });
  return talk;
}

test("kibitz uci answers stop within 200 ms while its own engine searches", async () => {
  const talk = uci();
  talk.say("position startpos", "go depth 1");
  await talk.until(/^bestmove /);
  const { medianMs, worstMs } = await timesOf(tries, () => stopMs(talk, /^info depth 3 /));
  expect(medianMs).toBeLessThan(usualMs);
  expect(worstMs).toBeLessThan(promisedMs);
});

const app = useApp({ KIBITZ_ACCESS: "open" }, { engines: createEnginesInProcess() });

test("kibitz uci --url answers stop within 200 ms while a service searches", async () => {
  const talk = uci("--url", app.url);
  const { medianMs, worstMs } = await timesOf(tries, () => stopMs(talk, /^info depth 19 /));
  expect(medianMs).toBeLessThan(usualMs);
  expect(worstMs).toBeLessThan(promisedMs);
});

test("kibitz uci --url answers stop within 200 ms after its connection broke during the search", async () => {
  const { medianMs, worstMs } = await timesOf(tries, async () => {
    await using relay = await startRelay(Number(new URL(app.url).port));
    const talk = startUci(["--url", `http://127.0.0.1:${relay.port}`]);
    talk.say("go infinite");
    await talk.until(/^info depth 19 /);
    await relay[Symbol.asyncDispose]();
    await talk.until(/^info string /);
    const stopwatch = startStopwatch();
    talk.say("stop");
    await talk.until(/^bestmove /);
    const ms = stopwatch();
    talk.say("quit");
    await talk.ended;
    return ms;
  });
  expect(medianMs).toBeLessThan(usualMs);
  expect(worstMs).toBeLessThan(promisedMs);
});
