import { createContextValues } from "@connectrpc/connect";
import { expect, onTestFinished, test } from "vitest";
import { requestKey } from "../../../src/calls/context-keys.ts";
import { localContext } from "../../../src/request/context.ts";
import { atMost } from "../../../src/services/tools/at-most.ts";

/** A call that says one thing and then has no news until its caller leaves. */
async function* waitForNews(
  _: unknown,
  { signal }: { readonly signal: AbortSignal },
): AsyncGenerator<string> {
  yield "hello";
  await new Promise((resolve) => signal.addEventListener("abort", resolve));
  signal.throwIfAborted();
}

interface Stream {
  /** What it says next. */
  next(): Promise<string | undefined>;
  /** How it ended; undefined while it goes on. */
  ended(): unknown;
  leave(): void;
}

function start(inAll: number, perAddress: number) {
  const call = atMost({ inAll, perAddress, addressOf: ({ address }) => address }, waitForNews);
  /** A caller that has heard the first word, and waits for the next. */
  const open = async (address: string, waits = true): Promise<Stream> => {
    const leaving = new AbortController();
    onTestFinished(() => leaving.abort());
    const values = createContextValues().set(requestKey, { ...localContext(), address });
    const stream = call("", { values, signal: leaving.signal })[Symbol.asyncIterator]();
    let end: unknown;
    const next = () =>
      stream.next().then(
        ({ value }) => value,
        (thrown) => {
          end = thrown;
          throw thrown;
        },
      );
    expect(await next()).toBe("hello");
    if (waits) {
      next().catch(() => {});
    }
    return { next, ended: () => end, leave: () => leaving.abort(new Error("left")) };
  };
  return { open };
}

test("an address has so many at a time, and others have theirs", async () => {
  const { open } = start(10, 2);
  const [first] = [await open("a"), await open("a")];
  await expect(open("a")).rejects.toMatchObject({ code: "overloaded", retryAfterMs: 1000 });
  await open("b");
  first.leave();
  await expect.poll(() => first.ended()).toMatchObject({ message: "left" });
  await open("a");
  await expect(open("a")).rejects.toMatchObject({ code: "overloaded" });
});

test("where all are taken, the address that has most gives its oldest to one that has fewer", async () => {
  const { open } = start(5, 4);
  const most = [await open("a"), await open("a"), await open("a")];
  await open("b");
  await open("c");
  await open("d");
  await expect.poll(() => most[0]?.ended()).toMatchObject({ code: "overloaded", retryAfterMs: 1000 });
  expect(most.slice(1).map((stream) => stream.ended())).toEqual([undefined, undefined]);
  // Two, one, one, one: whoever got it would have as many as who gave it.
  await expect(open("b")).rejects.toMatchObject({ code: "overloaded" });
  await open("e");
  await expect.poll(() => most[1]?.ended()).toMatchObject({ code: "overloaded" });
  await expect(open("f")).rejects.toMatchObject({ code: "overloaded" });
});

test("one that waits for its reader keeps its place: it cannot be ended at once", async () => {
  const { open } = start(3, 3);
  const deaf = [await open("a", false), await open("a", false), await open("a", false)];
  await expect(open("b")).rejects.toMatchObject({ code: "overloaded" });
  deaf[1]?.next().catch(() => {});
  await open("b");
  await expect.poll(() => deaf[1]?.ended()).toMatchObject({ code: "overloaded" });
});
