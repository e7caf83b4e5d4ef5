import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { rpcProtocols } from "../../../contract/protocols/all-protocols.ts";
import { startFen } from "../../../contract/protocols/cases/case.ts";
import { type StreamClient, streamClients } from "../../../contract/protocols/stream-clients.ts";
import { watchWork } from "../../../contract/protocols/watch-work.ts";
import { createEnginesInProcess } from "../../../support/engines-in-process.ts";
import { useApp } from "../../../support/running-app.ts";

const engines = createEnginesInProcess();
const { expectWork, expectNoWork } = watchWork(engines);
const app = useApp({ KIBITZ_SLOTS: "1" }, { engines });
const never = new AbortController().signal;

/** A search that runs for a minute if it is not stopped. */
const long = { fen: startFen, depth: 30 };
const batch = { requests: [long, { ...long, multipv: 2 }, { ...long, multipv: 3 }] };

const deadlineMs = 400;

/** Makes a call, and expects that a search starts before the deadline. */
async function callWithDeadline<T>(call: () => Promise<T>): Promise<T> {
  const { begun } = engines;
  const outcome = await call();
  expect(engines.begun, "begun before the deadline").toBeGreaterThan(begun);
  return outcome;
}

const calls = [
  ["streamEvaluate", long],
  ["evaluateBatch", batch],
] as const;

describe.each(streamClients)("$name", ({ open }) => {
  let client: StreamClient;
  beforeAll(() => {
    client = open(app.url);
  });
  afterAll(() => client[Symbol.asyncDispose]());

  test.each(calls)("all searches of %s stop when the caller disconnects", async (call, request) => {
    const leave = new AbortController();
    const read = Array.fromAsync(client.stream(call, request, leave.signal)).catch((error: unknown) => error);
    await expectWork();
    leave.abort();
    expect(await read).toBeInstanceOf(Error);
    await expectNoWork();
  });

  test("the search of streamEvaluate stops when the caller disconnects in the middle of the stream", async () => {
    const leave = new AbortController();
    for await (const _ of client.stream("streamEvaluate", long, leave.signal)) {
      await expectWork();
      // Connect's clients (2.2.0) do not cancel a stream when the reader only stops reading.
      leave.abort();
      break;
    }
    expect(leave.signal.aborted).toBe(true);
    await expectNoWork();
  });
});

describe.each(streamClients.filter(({ deadlines }) => deadlines))("$name", ({ open }) => {
  test.each(calls)("all searches of %s stop when the call's deadline passes", async (call, request) => {
    await using client = open(app.url);
    const outcome = await callWithDeadline(() =>
      Array.fromAsync(client.stream(call, request, never, deadlineMs)).catch((error: unknown) => error),
    );
    expect(String(outcome)).toMatch(/deadline.?exceeded/i);
    await expectNoWork();
  });
});

describe("the deadline of a unary call", () => {
  test.each(rpcProtocols)(
    "the search of a unary call over $name stops when the call's deadline passes",
    async ({ open }) => {
      await using protocol = open(app.url);
      const outcome = await callWithDeadline(() =>
        // Each protocol has its own header for the deadline and ignores the other header.
        protocol.call("evaluate", long, {
          "Connect-Timeout-Ms": String(deadlineMs),
          "grpc-timeout": `${deadlineMs}m`,
        }),
      );
      expect(outcome).toMatchObject({ kind: "refusal", refusal: { code: "deadline_exceeded" } });
      await expectNoWork();
    },
  );
});
