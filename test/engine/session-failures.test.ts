import { describe, expect, test } from "vitest";
import { UciSession } from "../../src/engine/uci/session.ts";
import { defaultWatchTimes } from "../../src/engine/uci/watch.ts";
import { startFen } from "../chess/judged.ts";
import { buildOf } from "./build-of.ts";
import { jobOf } from "./job-of.ts";
import { openScripted, script } from "./scripted-session.ts";

const forever = new AbortController().signal;
const go = "go depth 14 movetime 60000";
const start = `position fen ${startFen}`;
const firstLine = "info depth 1 score cp 30 time 1 pv e2e4";

/** A session in a search, up to the point where something goes wrong. */
async function searching() {
  const { session, conversation } = await openScripted();
  conversation.expect(start).expect(go);
  const search = session.search(jobOf(), forever);
  // Rejections are awaited later.
  search.catch(() => {});
  await conversation.told(go);
  return { session, conversation, search };
}

describe("an engine that fails in a search", () => {
  test.each([
    ["refuses the position", ["info string CRITICAL ERROR: Position not legal"], "CRITICAL ERROR"],
    ["has no move", [firstLine, "bestmove (none)"], "(none)"],
    ["answers nonsense", [firstLine, "bestmove 0000"], "(none)"],
    ["answers a move that is not legal", [firstLine, "bestmove e2e5"], "e2e5"],
    [
      "thinks of a move that is not legal",
      ["info depth 1 score cp 30 time 1 pv e7e5", "bestmove e2e4"],
      "e7e5",
    ],
    ["answers without a line", ["bestmove e2e4"], "no line"],
  ])("an engine that %s in a search is a protocol error, and killed", async (_, lines, message) => {
    const { session, conversation, search } = await searching();
    conversation.say(...lines);
    await expect(search).rejects.toMatchObject({
      name: "EngineFailure",
      kind: "protocol_error",
      message: expect.stringContaining(message),
    });
    expect(conversation.killed).toBe(true);
    expect(session.alive).toBe(false);
    expect(await session.exited).toMatchObject({ kind: "protocol_error" });
  });

  test("an engine whose pipe ends in a search has exited", async () => {
    const { session, conversation, search } = await searching();
    conversation.say(firstLine);
    conversation.hangUp();
    await expect(search).rejects.toMatchObject({ kind: "exited" });
    expect(await session.exited).toMatchObject({ kind: "exited" });
    expect(session.alive).toBe(false);
  });

  test("an engine that fails in a search fails once, and later errors change nothing", async () => {
    const { session, conversation, search } = await searching();
    conversation.say("info string CRITICAL ERROR", "bestmove (none)", "bestmove e2e4");
    conversation.hangUp();
    await expect(search).rejects.toMatchObject({ kind: "protocol_error" });
    await session[Symbol.asyncDispose]();
    expect(await session.exited).toMatchObject({ kind: "protocol_error" });
  });
});

describe("a session that is closed", () => {
  test("a session that is closed ends its engine and fails the waiting search", async () => {
    const { session, conversation, search } = await searching();
    await session[Symbol.asyncDispose]();
    await expect(search).rejects.toMatchObject({ kind: "exited" });
    expect(conversation.killed).toBe(true);
    // Nothing failed: it was meant to end.
    expect(await session.exited).toBeUndefined();
  });

  test.each([
    ["idle", ["readyok"]],
    ["being cleaned", []],
  ])("a session that is closed while it is %s ends its engine", async (_, ready) => {
    const { session, conversation } = await openScripted();
    conversation
      .expect(start)
      .expect(go, [firstLine, "bestmove e2e4"])
      .expect("ucinewgame")
      .expect("isready", ready);
    await session.search(jobOf(), forever);
    await new Promise(setImmediate);
    expect(session.state).toBe(ready.length > 0 ? "idle" : "stopping");
    await session[Symbol.asyncDispose]();
    expect(conversation.killed).toBe(true);
    expect(await session.exited).toBeUndefined();
  });

  test("a session that is closed right after an answer ends its engine without cleaning it", async () => {
    const { session, conversation } = await openScripted();
    conversation.expect(start).expect(go, [firstLine, "bestmove e2e4"]);
    await session.search(jobOf(), forever);
    await session[Symbol.asyncDispose]();
    await new Promise(setImmediate);
    expect(conversation.killed).toBe(true);
    expect(conversation.sent.at(-1)).toBe(go);
    expect(await session.exited).toBeUndefined();
  });

  test("a session may be closed twice", async () => {
    const { session } = await openScripted();
    await Promise.all([session[Symbol.asyncDispose](), session[Symbol.asyncDispose]()]);
    await session[Symbol.asyncDispose]();
  });

  test("a closed session takes no more searches", async () => {
    const { session } = await openScripted();
    await session[Symbol.asyncDispose]();
    // Not a failure of this search: it may be tried elsewhere, and its position is not to blame.
    await expect(session.search(jobOf(), forever)).rejects.toMatchObject({ kind: "no_start" });
  });
});

test("an engine that dies while idle is known to be gone", async () => {
  const { session, conversation } = await openScripted();
  conversation.hangUp();
  expect(await session.exited).toMatchObject({ kind: "exited" });
  expect(session.alive).toBe(false);
});

test("a search that comes when the pipe has just ended is to be tried on another engine, and is not blamed", async () => {
  const { session, conversation } = await openScripted();
  conversation.hangUp();
  while (session.alive) {
    await Promise.resolve();
  }
  await expect(session.search(jobOf(), forever)).rejects.toMatchObject({
    kind: "no_start",
    cause: { kind: "exited" },
  });
});

describe("a session that is asked for what may not follow", () => {
  test("a session that gets a wrong command reports it, and uses its engine no more", async () => {
    const { session, conversation } = await openScripted();
    const failure = {
      kind: "protocol_error",
      message: expect.stringContaining('"greeting" may not follow "idle"'),
    };
    await expect(session.greet()).rejects.toMatchObject(failure);
    expect(await session.exited).toMatchObject(failure);
    expect(conversation.killed).toBe(true);
  });

  test("a session starts no search before its greeting is over", async () => {
    const conversation = script().expect("uci");
    const session = new UciSession(buildOf(), conversation, defaultWatchTimes);
    const greeted = session.greet();
    await expect(session.search(jobOf(), forever)).rejects.toMatchObject({
      kind: "protocol_error",
      message: expect.stringContaining('"searching" may not follow "greeting"'),
    });
    await expect(greeted).rejects.toMatchObject({ kind: "protocol_error" });
    expect(conversation.sent).toEqual(["uci"]);
  });
});
