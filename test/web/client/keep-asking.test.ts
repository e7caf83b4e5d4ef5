import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ProblemSchema } from "../../../gen/chess/analysis/v1/problem_pb.ts";
import { keepAsking, type Wait } from "../../../web/src/client/keep-asking.ts";

const lost = () => new TypeError("Failed to fetch");
const refusal = (problem: object) =>
  new ConnectError("no", Code.ResourceExhausted, undefined, [
    { desc: ProblemSchema, value: create(ProblemSchema, problem) },
  ]);

const page = Object.assign(new EventTarget(), { hidden: false });

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("document", page);
  const events = new EventTarget();
  vi.stubGlobal("addEventListener", events.addEventListener.bind(events));
  vi.stubGlobal("dispatchEvent", events.dispatchEvent.bind(events));
  page.hidden = false;
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** Each item of `answers` contains the messages of one call. An error in the item breaks the call. */
function service(answers: readonly (readonly (string | Error)[])[]) {
  const controller = new AbortController();
  const waits: Wait[] = [];
  let calls = 0;
  async function* ask() {
    for (const message of answers[Math.min(calls++, answers.length - 1)] ?? []) {
      if (message instanceof Error) {
        throw message;
      }
      yield message;
    }
  }
  const options = { signal: controller.signal, onWait: (wait: Wait) => void waits.push(wait) };
  const messages = Array.fromAsync(keepAsking(ask, options));
  messages.catch(() => {});
  return { messages, waits, controller, calls: () => calls };
}

const secondsOf = ({ waits }: { readonly waits: readonly Wait[] }) =>
  ((waits.at(-1)?.endsAt ?? Number.NaN) - performance.now()) / 1000;

test("the page sends one request if the stream does not break", async () => {
  const { messages, calls } = service([["a", "b"]]);
  expect(await messages).toEqual(["a", "b"]);
  expect(calls()).toBe(1);
});

test("the page repeats the request if the connection breaks, and receives all messages again", async () => {
  const { messages } = service([
    ["a", lost()],
    ["a", "b"],
  ]);
  await vi.advanceTimersByTimeAsync(1000);
  expect(await messages).toEqual(["a", "a", "b"]);
});

test("the page doubles the wait after each failed request, up to 15 seconds", async () => {
  vi.spyOn(Math, "random").mockReturnValue(0);
  const lossy = service([[lost()]]);
  const seconds: number[] = [];
  for (let count = 0; count < 7; count++) {
    await vi.advanceTimersByTimeAsync(0);
    seconds.push(secondsOf(lossy));
    await vi.advanceTimersByTimeAsync(secondsOf(lossy) * 1000);
  }
  expect(seconds).toEqual([0.5, 1, 2, 4, 8, 15, 15]);
});

test("if the service refuses several pages at the same time, the pages retry at different times", async () => {
  const seconds = [0, 0.5, 1].map(async (random) => {
    vi.spyOn(Math, "random").mockReturnValueOnce(random);
    const busy = service([[refusal({ retryable: true, retryAfterMs: 4000 })]]);
    await vi.advanceTimersByTimeAsync(0);
    return Math.round(secondsOf(busy));
  });
  expect(await Promise.all(seconds)).toEqual([4, 5, 6]);
});

test("a hidden tab retries only after the user returns to the tab", async () => {
  const { messages, calls } = service([[lost()], ["a"]]);
  page.hidden = true;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(calls()).toBe(1);
  page.hidden = false;
  page.dispatchEvent(new Event("visibilitychange"));
  expect(await messages).toEqual(["a"]);
});

test("the page retries at once if the network returns or the user asks for a retry", async () => {
  const { messages, waits } = service([[lost()], [lost()], ["a"]]);
  await vi.advanceTimersByTimeAsync(0);
  dispatchEvent(new Event("online"));
  await vi.advanceTimersByTimeAsync(0);
  expect(waits).toHaveLength(2);
  waits[1]?.retry();
  expect(await messages).toEqual(["a"]);
});

test("the return of the network does not shorten a wait that the service requested", async () => {
  const { calls } = service([[refusal({ retryable: true, retryAfterMs: 4000 })]]);
  await vi.advanceTimersByTimeAsync(0);
  dispatchEvent(new Event("online"));
  await vi.advanceTimersByTimeAsync(0);
  expect(calls()).toBe(1);
});

test.each([
  ["the service refuses the call for good", refusal({ retryable: false })],
  ["another program answers", new ConnectError("HTTP 404", Code.Unimplemented)],
])("the page does not retry if %s", async (_, error) => {
  const { messages, calls } = service([["a", error]]);
  await expect(messages).rejects.toBe(error);
  expect(calls()).toBe(1);
});

test("an aborted call is not repeated", async () => {
  const { messages, controller, calls } = service([[lost()]]);
  await vi.advanceTimersByTimeAsync(0);
  controller.abort(new Error("left"));
  await expect(messages).rejects.toThrow("left");
  expect(calls()).toBe(1);
});
