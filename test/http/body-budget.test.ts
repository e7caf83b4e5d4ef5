import { describe, expect, onTestFinished, test } from "vitest";
import { KibitzError } from "../../src/errors/errors.ts";
import { type BodyBudgetOptions, createBodyBudget } from "../../src/http/body-budget.ts";
import { sendProblem } from "../../src/http/send-problem.ts";
import {
  ClientDisconnected,
  closeCall,
  contextOf,
  createOutcome,
  localContext,
  outcomeOf,
} from "../../src/request/context.ts";
import { open, problemOf } from "../support/raw-http.ts";
import { startListener } from "./start-listener.ts";

async function start(options: BodyBudgetOptions) {
  const budget = createBodyBudget(options);
  const { port } = await startListener([
    (req, res) => {
      const count = budget.countOf(contextOf(req), outcomeOf(req));
      const isWaiting = req.headers["x-wait"] !== undefined;
      req.on("data", (chunk: Buffer) => {
        try {
          count(chunk.length);
        } catch (error) {
          req.removeAllListeners("data");
          sendProblem(req, res, error as KibitzError);
        }
      });
      req.on("end", () => isWaiting || res.writableEnded || res.end("read"));
      return true;
    },
  ]);
  /** Sends the first `bytes` bytes of a body, and waits 50 ms, so that the server can read these bytes. */
  return async (from: string, bytes: number, { length = bytes, forwardedFor = from, wait = false } = {}) => {
    const client = await open(port, from);
    onTestFinished(() => void client.socket.destroy());
    client.socket.write(
      `POST / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${forwardedFor}\r\n${wait ? "X-Wait: yes\r\n" : ""}Connection: close\r\nContent-Length: ${length}\r\n\r\n`,
    );
    client.socket.write(Buffer.alloc(bytes, "a"));
    await new Promise((resolve) => setTimeout(resolve, 50));
    return client;
  };
}

// The first address may hold 40,000 bytes, which leaves 60,000. The second may then hold 24,000, which leaves 36,000.
const limits = { maxBytes: 100_000, shareOfFree: 2 / 3, freeBytes: 1000 };

test("requests from an address that exceeds the memory limit for bodies are refused, and requests from other addresses are accepted", async () => {
  const send = await start(limits);
  const slow = await send("127.0.0.2", 41_000, { length: 50_000 });
  const more = problemOf(await (await send("127.0.0.2", 2000)).closed);
  expect(more).toMatchObject({ status: 503, code: "overloaded" });
  expect(more.head).toContain("Retry-After: 1\r\n");
  expect(await (await send("127.0.0.2", 1000)).closed).toContain("read");
  expect(await (await send("127.0.0.3", 25_000)).closed).toContain("read");
  slow.socket.destroy();
  await expect.poll(async () => (await send("127.0.0.2", 41_000)).closed).toContain("read");
});

test("the bodies of all addresses together have a memory limit", async () => {
  const send = await start(limits);
  await send("127.0.0.2", 41_000, { length: 50_000 });
  await send("127.0.0.3", 25_000, { length: 50_000 });
  expect(problemOf(await (await send("127.0.0.4", 16_000)).closed)).toMatchObject({ status: 503 });
  expect(await (await send("127.0.0.4", 15_000)).closed).toContain("read");
  expect(await (await send("127.0.0.4", 1000)).closed).toContain("read");
});

test("bodies that never end leave memory for the bodies of another address", async () => {
  const send = await start(limits);
  for (const [count, bytes] of [41_000, 25_000, 15_000, 9000, 6000].entries()) {
    await send(`127.0.1.${count}`, bytes, { length: 50_000 });
  }
  expect(await (await send("127.0.0.3", 4000)).closed).toContain("read");
});

test("the memory limit for bodies applies to the address in X-Forwarded-For if the service uses this header", async () => {
  const send = await start({ ...limits, addressOf: ({ forwardedFor }) => forwardedFor ?? "" });
  await send("127.0.0.2", 41_000, { length: 50_000, forwardedFor: "192.0.2.1" });
  expect(await (await send("127.0.0.2", 25_000, { forwardedFor: "192.0.2.2" })).closed).toContain("read");
  expect(await (await send("127.0.0.3", 41_000, { forwardedFor: "192.0.2.1" })).closed).toContain("503");
});

test("a completely received body counts towards the memory limit until its call ends", async () => {
  const send = await start(limits);
  const waiting = await send("127.0.0.2", 41_000, { wait: true });
  expect(await (await send("127.0.0.2", 2000)).closed).toContain("503");
  waiting.socket.destroy();
  await expect.poll(async () => (await send("127.0.0.2", 41_000)).closed).toContain("read");
});

describe("inflating", () => {
  const packed = Buffer.alloc(10);
  const anyCall = () => {
    const outcome = createOutcome();
    return { outcome, count: () => {} };
  };

  test("at most four bodies are decompressed at the same time, and further bodies wait in order", async () => {
    const { inflate } = createBodyBudget();
    const begun: number[] = [];
    const gates = Array.from({ length: 7 }, () => Promise.withResolvers<Buffer>());
    const all = gates.map(({ promise }, index) => {
      const unpack = () => {
        begun.push(index);
        return promise;
      };
      return inflate(packed, unpack, anyCall());
    });
    await settlePromises();
    expect(begun).toEqual([0, 1, 2, 3]);
    gates[2]?.resolve(packed);
    await settlePromises();
    expect(begun).toEqual([0, 1, 2, 3, 4]);
    gates[0]?.reject(new Error("it is not what it says"));
    await expect(all[0]).rejects.toThrow("it is not what it says");
    await settlePromises();
    expect(begun).toEqual([0, 1, 2, 3, 4, 5]);
    for (const { resolve } of gates) {
      resolve(packed);
    }
    await Promise.allSettled(all);
    expect(begun).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });

  test("a body is not decompressed if its caller has disconnected", async () => {
    const { inflate } = createBodyBudget();
    const gate = Promise.withResolvers<Buffer>();
    const running = Array.from({ length: 4 }, () => inflate(packed, () => gate.promise, anyCall()));
    const leaver = anyCall();
    const leaving = inflate(packed, () => expect.fail("it was inflated"), leaver);
    const next = inflate(packed, async () => packed, anyCall());
    closeCall(leaver.outcome);
    gate.resolve(packed);
    await expect(leaving).rejects.toThrow(ClientDisconnected);
    await expect(inflate(packed, () => expect.fail("it was inflated"), leaver)).rejects.toThrow(
      ClientDisconnected,
    );
    expect(await next).toBe(packed);
    await Promise.all(running);
  });

  test("a decompressed body counts towards the memory limit with its decompressed size until the call ends", async () => {
    const { inflate, countOf } = createBodyBudget({ freeBytes: 0, maxBytes: 200, shareOfFree: 1 });
    const call = () => {
      const outcome = createOutcome();
      return { outcome, count: countOf(localContext(), outcome) };
    };
    const first = call();
    first.count(10);
    await inflate(packed, async () => Buffer.alloc(60), first);
    const second = call();
    second.count(10);
    await expect(inflate(packed, async () => Buffer.alloc(41), second)).rejects.toThrow(KibitzError);
    closeCall(first.outcome);
    closeCall(second.outcome);
    call().count(100);
  });
});

async function settlePromises() {
  await new Promise((resolve) => setImmediate(resolve));
}
