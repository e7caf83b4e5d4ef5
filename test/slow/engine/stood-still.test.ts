import { expect, test } from "vitest";
import { startFen } from "../../chess/judged.ts";
import { jobOf } from "../../engine/job-of.ts";
import { openScripted } from "../../engine/scripted-session.ts";

const forever = new AbortController().signal;

test("an engine that was stopped with this process, and goes on a moment after it, is not killed", async () => {
  const opened = await Promise.all(
    [60_000, 50].map(async (movetimeMs) => {
      const { session, conversation } = await openScripted();
      const go = `go depth 14 movetime ${movetimeMs}`;
      conversation.expect(`position fen ${startFen}`).expect(go);
      const answer = session.search(jobOf({ movetimeMs }), forever);
      answer.catch(() => {});
      await conversation.told(go);
      return { session, conversation, answer };
    }),
  );
  for (const { conversation } of opened) {
    conversation.suspendedFromOutside = true;
  }
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2000);
  setTimeout(() => {
    for (const { conversation } of opened) {
      conversation.suspendedFromOutside = false;
      conversation.expect("ucinewgame").expect("isready", ["readyok"]);
      conversation.say("info depth 1 score cp 30 time 1 pv e2e4", "bestmove e2e4");
    }
  }, 30);
  for (const { session, answer } of opened) {
    expect(await answer).toMatchObject({ kind: "done" });
    expect(session.alive).toBe(true);
  }
});
