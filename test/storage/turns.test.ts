import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { createTurns } from "../../src/storage/turns.ts";

const never = new AbortController().signal;

test("waiting requests are woken one after the other, and each subject has its own queue", async () => {
  const turns = createTurns();
  const woken: string[] = [];
  const wait = async (subject: string, name: string) => {
    using turn = turns.take(subject);
    await turn.woken(never);
    woken.push(`${name} after ${turn.ahead}`);
  };
  const all = [wait("a", "first"), wait("a", "second"), wait("b", "other")];
  expect([turns.waiting("a"), turns.waiting("b"), turns.waiting("c")]).toEqual([2, 1, 0]);
  turns.wakeFirst("b");
  await all[2];
  expect(woken).toEqual(["other after 0"]);
  turns.wakeFirst("a");
  await Promise.all(all);
  expect(woken).toEqual(["other after 0", "first after 0", "second after 0"]);
  expect([turns.waiting("a"), turns.waiting("b")]).toEqual([0, 0]);
});

test("a request that is woken while it is tried again does not wait again", async () => {
  const turns = createTurns();
  using turn = turns.take("a");
  turns.wakeFirst("a");
  await turn.woken(never);
  const again = turn.woken(never).then(() => "woken");
  expect(await Promise.race([again, sleep(20, "waits")])).toBe("waits");
  turns.wakeFirst("a");
  expect(await again).toBe("woken");
});

test("a waiting request ends after its maximum wait, or with the reason of its signal", async () => {
  const turns = createTurns();
  using turn = turns.take("a");
  await turn.woken(never, 5);
  const leaving = new AbortController();
  const left = turn.woken(leaving.signal, 60_000);
  leaving.abort(new Error("left"));
  await expect(left).rejects.toThrow("left");
  await expect(turn.woken(leaving.signal)).rejects.toThrow("left");
});
