import { expect, onTestFinished, test } from "vitest";
import type { KibitzError } from "../../src/errors/errors.ts";
import { type BodyBudgetOptions, createBodyBudget } from "../../src/http/body-budget.ts";
import { sendProblem } from "../../src/http/send-problem.ts";
import { open, problemOf } from "./exchange.ts";
import { startListener } from "./start-listener.ts";

/** A service that reads bodies within a budget. */
async function start(options: BodyBudgetOptions) {
  const budget = createBodyBudget(options);
  const { port } = await startListener([
    (req, res) => {
      const count = budget.countOf(req);
      req.on("data", (chunk: Buffer) => {
        try {
          count(chunk.length);
        } catch (error) {
          req.removeAllListeners("data");
          sendProblem(req, res, error as KibitzError);
        }
      });
      req.on("end", () => res.writableEnded || res.end("read"));
      return true;
    },
  ]);
  /** Sends a part of a body, and waits until it is read. */
  return async (from: string, bytes: number, length = bytes, forwardedFor = from) => {
    const client = await open(port, from);
    onTestFinished(() => void client.socket.destroy());
    client.socket.write(
      `POST / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${forwardedFor}\r\nConnection: close\r\nContent-Length: ${length}\r\n\r\n`,
    );
    client.socket.write(Buffer.alloc(bytes, "a"));
    await new Promise((resolve) => setTimeout(resolve, 50));
    return client;
  };
}

const limits = { maxBytes: 100_000, maxBytesPerAddress: 40_000, freeBytes: 1000 };

test("one address that sends slowly has its share of the memory for bodies, and others have theirs", async () => {
  const send = await start(limits);
  const slow = await send("127.0.0.2", 41_000, 50_000);
  const more = problemOf(await (await send("127.0.0.2", 2000)).closed);
  expect(more).toMatchObject({ status: 503, code: "overloaded" });
  expect(more.head).toContain("Retry-After: 1\r\n");
  expect(await (await send("127.0.0.2", 1000)).closed).toContain("read");
  expect(await (await send("127.0.0.3", 41_000)).closed).toContain("read");
  slow.socket.destroy();
  await expect.poll(async () => (await send("127.0.0.2", 41_000)).closed).toContain("read");
});

test("all addresses together have what there is", async () => {
  const send = await start(limits);
  for (const from of ["127.0.0.2", "127.0.0.3"]) {
    await send(from, 41_000, 50_000);
  }
  expect(problemOf(await (await send("127.0.0.4", 22_000)).closed)).toMatchObject({ status: 503 });
  expect(await (await send("127.0.0.4", 21_000)).closed).toContain("read");
  expect(await (await send("127.0.0.4", 1000)).closed).toContain("read");
});

test("an address is the one that a caller is known by", async () => {
  const send = await start({ ...limits, addressOf: ({ forwardedFor }) => forwardedFor ?? "" });
  await send("127.0.0.2", 41_000, 50_000, "192.0.2.1");
  expect(await (await send("127.0.0.2", 41_000, 41_000, "192.0.2.2")).closed).toContain("read");
  expect(await (await send("127.0.0.3", 41_000, 41_000, "192.0.2.1")).closed).toContain("503");
});
