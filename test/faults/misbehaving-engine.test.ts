import { afterEach, describe, expect, test } from "vitest";
import { startFen } from "../contract/doors/cases/case.ts";
import { post } from "../contract/doors/post.ts";
import { enginesRunning } from "../engine/processes.ts";
import type { Misbehaviour } from "../support/fake-engine/index.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";
import { type FakeApp, startFakeApp } from "./fake-app.ts";
import { probeHealth } from "./health-probe.ts";

const folder = useTemporaryFolder();
const times = { startMs: 3000, silenceMs: 200, deafMs: 400, lateMs: 100, cleanMs: 500 };

/** Ends the engine that waits: the ones that are started instead, at once and by searches, behave as they are told. */
async function armNextEngine(
  { arm, complaints }: FakeApp,
  misbehaviour: Misbehaviour,
  starts = 1,
): Promise<void> {
  arm(misbehaviour, starts);
  for (const pid of enginesRunning()) {
    process.kill(pid, "SIGKILL");
  }
  await expect.poll(() => complaints, { timeout: 5000 }).toEqual([killed]);
}

/** What the log says of that: a fault has to begin somewhere. */
const killed = "engine failed: killed";

afterEach(async () => {
  await expect.poll(enginesRunning, { timeout: 5000 }).toEqual([]);
});

const ask = (url: string, more: object = {}) => post(`${url}/v1/eval`, { fen: startFen, depth: 4, ...more });

describe("a caller whose engine", () => {
  test.each<[what: string, Misbehaviour, said: readonly string[]]>([
    [
      "ends with exit code 0 in its search",
      "exit-0",
      ["engine failed: exited", "search tried again: exited"],
    ],
    ["prints a line without an end", "flood", ["engine failed: exited", "search tried again: exited"]],
    ["prints lines without an end", "flood-lines", ["engine failed: flooded", "search tried again: flooded"]],
    ["complains without an end on stderr", "flood-stderr", []],
    ["writes its lines in pieces", "half-lines", []],
    ["writes half an answer", "half-answer", ["engine failed: confused", "search tried again: confused"]],
    [
      "closes its output and lives on",
      "close-output",
      ["engine failed: exited", "search tried again: exited"],
    ],
    ["hears nothing any more", "hang", ["engine failed: deaf", "search tried again: deaf"]],
    ["closes its input", "close-input", ["engine failed: deaf", "search tried again: deaf"]],
    [
      "answers a move that is not legal",
      "illegal",
      ["engine failed: confused", "search tried again: confused"],
    ],
    ["answers with no move", "no-move", ["engine failed: confused", "search tried again: confused"]],
    ["answers twice", "twice", ["engine failed: confused"]],
    ["answers again when it is idle", "twice-late", ["engine failed: confused"]],
    ["floods when it is idle", "flood-idle", ["engine failed: flooded"]],
    ["is stuck when it is cleaned", "stuck", ["engine failed: no_start"]],
    ["prints bytes that mean nothing", "garbage", []],
    ["greets late", "late", []],
    ["never greets", "mute", ["engine could not be started", "search tried again: no_start"]],
    ["is never ready", "unready", ["engine could not be started", "search tried again: no_start"]],
    ["ignores every signal and the end of its input", "undying", []],
  ])("%s is answered, and so is the next one; the log says what it was", async (_, misbehaviour, said) => {
    await using app = await startFakeApp(folder, times);
    await armNextEngine(app, misbehaviour);
    const stopProbing = probeHealth(app.url);
    const first = await ask(app.url);
    expect([first.status, first.body]).toMatchObject([200, { best_move: { san: expect.any(String) } }]);
    const complained = () => app.complaints.toSorted();
    await expect.poll(complained, { timeout: 5000 }).toEqual([killed, ...said].toSorted());
    expect((await ask(app.url, { multipv: 2 })).status).toBe(200);
    expect(complained()).toHaveLength(1 + said.length);
    const tookMs = await stopProbing();
    expect(tookMs.toSorted((a, b) => a - b)[Math.floor(tookMs.length / 2)]).toBeLessThan(100);
  });

  test("goes on after its limit and after stop is told so in time, and the next one is answered", async () => {
    await using app = await startFakeApp(folder, times);
    await armNextEngine(app, "go-on");
    const askedAt = performance.now();
    const { status, body } = await ask(app.url, { movetime_ms: 200 });
    expect([status, body]).toMatchObject([504, { code: "engine_timeout", next_action: "reduce_limits" }]);
    expect(performance.now() - askedAt).toBeLessThan(200 + 1500 + 1500);
    expect((await ask(app.url)).status).toBe(200);
    expect(app.complaints).toContain("engine failed: overran");
  });
});

describe("where every engine of a build", () => {
  test.each<[what: string, Misbehaviour, status: number, code: string, next: string]>([
    ["crashes on a position", "exit-0", 500, "internal", "engine_timeout"],
    ["floods on a position", "flood-lines", 500, "internal", "engine_timeout"],
    ["answers illegal moves", "illegal", 500, "internal", "internal"],
    ["never greets", "mute", 503, "starting", "starting"],
  ])(
    "%s, callers are told after a few tries, and soon after",
    async (_, misbehaviour, status, code, next) => {
      // Only the one that never greets is waited for.
      const startMs = misbehaviour === "mute" ? 700 : times.startMs;
      await using app = await startFakeApp(folder, { ...times, startMs });
      await armNextEngine(app, misbehaviour, 1000);
      const first = await ask(app.url);
      expect([first.status, first.body.code]).toEqual([status, code]);
      const again = await ask(app.url);
      expect(again.body.code).toBe(next);
      app.arm(misbehaviour, 0);
      // Another position: this one may be refused for a while. The next start may be waited for.
      await expect
        .poll(async () => (await ask(app.url, { moves: ["e2e4"] })).status, { timeout: 20_000 })
        .toBe(200);
    },
  );
});
