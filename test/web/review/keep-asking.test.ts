import { expect, test } from "vitest";
import { BrokenOff, keepAsking, triesMax } from "../../../web/src/review/keep-asking.ts";

class Lost extends Error {}

/** A service that answers each call as it is told. */
function service(...answers: readonly (readonly (string | Error)[])[]) {
  let calls = 0;
  const waits: number[] = [];
  const messages = keepAsking(
    async function* () {
      for (const message of answers[Math.min(calls++, answers.length - 1)] ?? []) {
        if (message instanceof Error) {
          throw message;
        }
        yield message;
      }
    },
    {
      isLost: (error) => error instanceof Lost || error instanceof BrokenOff,
      wait: async (tries) => void waits.push(tries),
      isLast: (message) => message === "end",
    },
  );
  return { messages, waits, calls: () => calls };
}

test("the page asks for a stream once if it does not break", async () => {
  const { messages, calls } = service(["a", "b", "end"]);
  expect(await Array.fromAsync(messages)).toEqual(["a", "b", "end"]);
  expect(calls()).toBe(1);
});

test("the page asks for no more after the last message, even if the connection breaks then", async () => {
  const { messages, calls } = service(["a", "end", new Lost()]);
  expect(await Array.fromAsync(messages)).toEqual(["a", "end"]);
  expect(calls()).toBe(1);
});

test("the page asks again if the connection breaks, or if the stream ends early", async () => {
  const { messages, waits } = service(["a", new Lost()], ["a", "b"], ["a", "b", "end"]);
  expect(await Array.fromAsync(messages)).toEqual(["a", "a", "b", "a", "b", "end"]);
  expect(waits).toEqual([1, 1]);
});

test("the page waits longer with each try that no service answers", async () => {
  const { messages, waits } = service([new Lost()], [new Lost()], [new Lost()], ["end"]);
  expect(await Array.fromAsync(messages)).toEqual(["end"]);
  expect(waits).toEqual([1, 2, 3]);
});

test("the page gives up after some tries without a message", async () => {
  const { messages, calls } = service([new Lost()]);
  await expect(Array.fromAsync(messages)).rejects.toThrow(Lost);
  expect(calls()).toBe(triesMax);
});

test("the page does not ask again if the service has refused", async () => {
  const { messages, calls } = service(["a", new TypeError("refused")]);
  await expect(Array.fromAsync(messages)).rejects.toThrow("refused");
  expect(calls()).toBe(1);
});
