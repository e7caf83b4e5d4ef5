import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { defaultWatchTimes, type WatchTimes } from "../../../src/engine/uci/watch.ts";
import { startFen } from "../../contract/protocols/cases/case.ts";
import { post } from "../../contract/protocols/post.ts";
import { enginesRunning } from "../../engine/processes.ts";
import { type FakeApp, startFakeApp } from "../../faults/fake-app.ts";
import type { Misbehaviour } from "../../support/fake-engine/index.ts";
import { patienceMs } from "../../support/patience.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";

const folder = useTemporaryFolder();
let app: FakeApp;
beforeAll(async () => {
  app = await startFakeApp(folder);
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  expect(enginesRunning()).toEqual([]);
});

/** Shorter timeouts for engines that never answer. For all other engines, the default timeouts allow for a busy machine. */
const shortTimes: Readonly<Partial<Record<Misbehaviour, Partial<WatchTimes>>>> = {
  mute: { startMs: 300 },
  unready: { startMs: 300 },
  hang: { silenceMs: 200, unresponsiveMs: 300 },
  "close-input": { silenceMs: 200, unresponsiveMs: 300 },
  "half-answer": { silenceMs: 200 },
  stuck: { cleanMs: 300 },
};

/**
 * Kills all idle engines. The next `starts` engines misbehave.
 * @returns a function that returns the failures that were logged later, sorted
 */
async function armNextEngine(misbehaviour: Misbehaviour, starts = 1): Promise<() => readonly string[]> {
  const before = app.complaints.length;
  const { length: ended } = enginesRunning();
  const isOfThose = (complaint: string) => complaint === "engine failed: killed";
  const complaints = () => app.complaints.slice(before);
  app.arm({ misbehaviour, times: { ...defaultWatchTimes, ...shortTimes[misbehaviour] } }, starts);
  for (const pid of enginesRunning()) {
    process.kill(pid, "SIGKILL");
  }
  await expect.poll(() => complaints().filter(isOfThose), { timeout: patienceMs }).toHaveLength(ended);
  return () => {
    let left = ended;
    return complaints()
      .filter((complaint) => !isOfThose(complaint) || left-- <= 0)
      .toSorted();
  };
}

/** Each test uses a new position, because the server refuses a position that has crashed two engines. */
let cases = 0;
beforeEach(() => void cases++);
const ask = (more: object = {}) =>
  post(`${app.url}/v1/eval`, { fen: startFen.replace(/1$/, String(cases)), depth: 4, ...more });

afterEach(async () => {
  await expect.poll(() => app.engines.starting, { timeout: patienceMs }).toBe(0);
  // The server must know every engine process that still runs.
  await expect.poll(() => enginesRunning().length - app.engines.alive, { timeout: patienceMs }).toBe(0);
});

describe("an engine that misbehaves once", () => {
  test.each<[what: string, Misbehaviour, said: readonly string[]]>([
    [
      "exits with code 0 during its search",
      "exit-0",
      ["engine failed: exited", "search tried again: exited"],
    ],
    ["prints an endless line", "flood", ["engine failed: exited", "search tried again: exited"]],
    ["prints endless lines", "flood-lines", ["engine failed: flooded", "search tried again: flooded"]],
    ["writes endlessly to standard error", "flood-stderr", []],
    ["writes its lines in pieces", "half-lines", []],
    [
      "writes half an answer",
      "half-answer",
      ["engine failed: protocol_error", "search tried again: protocol_error"],
    ],
    [
      "closes its output and keeps running",
      "close-output",
      ["engine failed: exited", "search tried again: exited"],
    ],
    ["stops reading its input", "hang", ["engine failed: unresponsive", "search tried again: unresponsive"]],
    ["closes its input", "close-input", ["engine failed: unresponsive", "search tried again: unresponsive"]],
    [
      "answers with an illegal move",
      "illegal",
      ["engine failed: protocol_error", "search tried again: protocol_error"],
    ],
    [
      "answers without a move",
      "no-move",
      ["engine failed: protocol_error", "search tried again: protocol_error"],
    ],
    ["answers twice", "twice", ["engine failed: protocol_error"]],
    ["answers again when it is idle", "twice-late", ["engine failed: protocol_error"]],
    ["prints endless lines when it is idle", "flood-idle", ["engine failed: flooded"]],
    ["hangs at the start of a new game", "stuck", ["engine failed: unresponsive"]],
    ["prints meaningless bytes", "garbage", []],
    ["answers uci late", "late", []],
    ["never answers uci", "mute", ["engine could not be started"]],
    ["never answers isready", "unready", ["engine could not be started"]],
    ["ignores every signal and the end of its input", "undying", []],
  ])(
    "if an engine %s, its caller and the next caller still get results, and the log names the failure",
    async (_, misbehaviour, said) => {
      const complained = await armNextEngine(misbehaviour);
      const first = await ask();
      expect([first.status, first.body]).toMatchObject([200, { best_move: { san: expect.any(String) } }]);
      await expect.poll(complained, { timeout: patienceMs }).toEqual(said.toSorted());
      expect((await ask({ multipv: 2 })).status).toBe(200);
      expect(complained()).toHaveLength(said.length);
    },
  );

  test("a caller whose engine ignores the limit and the stop command gets 504 engine_timeout, and the next caller gets an answer", async () => {
    const complained = await armNextEngine("go-on");
    const { status, body } = await ask({ movetime_ms: 200 });
    expect([status, body]).toMatchObject([504, { code: "engine_timeout", next_action: "reduce_limits" }]);
    expect((await ask()).status).toBe(200);
    expect(complained()).toContain("engine failed: overtime");
  });
});

describe("a build whose engines all misbehave", () => {
  test.each<[what: string, Misbehaviour, status: number, code: string, next: string]>([
    ["crashes in a position", "exit-0", 503, "overloaded", "engine_timeout"],
    ["prints endless lines for a position", "flood-lines", 503, "overloaded", "engine_timeout"],
    ["answers with illegal moves", "illegal", 500, "internal", "internal"],
    ["never answers uci", "mute", 503, "starting", "starting"],
  ])(
    "if every engine of a build %s, the search fails after a few retries, and the next request fails quickly",
    async (_, misbehaviour, status, code, next) => {
      await armNextEngine(misbehaviour, 1000);
      const first = await ask();
      expect([first.status, first.body.code]).toEqual([status, code]);
      const again = await ask();
      expect(again.body.code).toBe(next);
      app.arm({}, 0);
      // A new position, because the server may refuse the first one for a while. The next engine may still be starting.
      await expect
        .poll(async () => (await ask({ moves: ["e2e4"] })).status, { timeout: patienceMs })
        .toBe(200);
    },
  );
});

test("an engine that ignores signals and the end of its input is killed when its server stops", async () => {
  const others = enginesRunning();
  const server = await startFakeApp(folder);
  const engines = () => enginesRunning().filter((pid) => !others.includes(pid));
  const first = engines();
  server.arm({ misbehaviour: "undying" });
  first.forEach((pid) => void process.kill(pid, "SIGKILL"));
  await expect
    .poll(() => engines().filter((pid) => !first.includes(pid)), { timeout: patienceMs })
    .toHaveLength(1);
  expect((await post(`${server.url}/v1/eval`, { fen: startFen, depth: 4 })).status).toBe(200);
  await server[Symbol.asyncDispose]();
  expect(engines()).toEqual([]);
});
