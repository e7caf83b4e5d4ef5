import { describe, expect, test } from "vitest";
import { patienceMs } from "../support/patience.ts";
import { matedFen } from "./calls.ts";
import {
  type FrameClient,
  flag,
  frame,
  frameType,
  headerBlock,
  openFrames,
  requestFields,
  uint32,
} from "./frames.ts";
import { expectUnharmed, watchHealth } from "./health-watch.ts";
import { expectEvaluation, startFen, useService } from "./started-service.ts";

const service = useService();

const idOf = (count: number) => 2 * count + 1;
const get = (count: number, path = "/healthz") =>
  frame(
    frameType.headers,
    flag.endHeaders | flag.endStream,
    idOf(count),
    headerBlock(requestFields("GET", path)),
  );
const search = Buffer.from(JSON.stringify({ fen: startFen, depth: 25 }));
const evaluate = (count: number, path = "/v1/eval", body = search) => [
  frame(
    frameType.headers,
    flag.endHeaders,
    idOf(count),
    headerBlock(requestFields("POST", path, { "content-type": "application/json" })),
  ),
  frame(frameType.data, flag.endStream, idOf(count), body),
];
const cancel = (count: number) => frame(frameType.rstStream, 0, idOf(count), uint32(8));

interface Flood {
  readonly frames: (count: number) => readonly Uint8Array[];
  readonly times: number;
  readonly begin?: readonly Uint8Array[];
  readonly isEnded: boolean;
  readonly deaf?: true;
}

const tenTimes = (one: Uint8Array) => Array.from({ length: 10 }, () => one);
const openPost = evaluate(0)[0] as Buffer;

const floods: Readonly<Record<string, Flood>> = {
  "calls that are cancelled at once (CVE-2023-44487)": {
    frames: (n) => [get(n), cancel(n)],
    times: 20_000,
    isEnded: true,
  },
  "searches that are cancelled at once": {
    frames: (n) => [...evaluate(n), cancel(n)],
    times: 20_000,
    isEnded: true,
  },
  "calls that make the service cancel them: a window of nothing (CVE-2025-8671)": {
    frames: (n) => [...evaluate(n), frame(frameType.windowUpdate, 0, idOf(n), uint32(0))],
    times: 20_000,
    isEnded: true,
  },
  "calls that make the service cancel them: more than the end": {
    frames: (n) => [...evaluate(n), frame(frameType.data, 0, idOf(n), search)],
    times: 20_000,
    isEnded: true,
  },
  "calls that depend on themselves": {
    frames: (n) => [
      get(n),
      frame(frameType.priority, 0, idOf(n), Buffer.concat([uint32(idOf(n)), Buffer.of(1)])),
    ],
    times: 20_000,
    isEnded: true,
  },
  "more calls at a time than are allowed": { frames: (n) => evaluate(n), times: 20_000, isEnded: true },
  "headers that go on and on (CVE-2024-27316)": {
    begin: [frame(frameType.headers, 0, 1, headerBlock(requestFields("GET", "/healthz")))],
    frames: () => [frame(frameType.continuation, 0, 1, headerBlock([["a", "x".repeat(1000)]]))],
    times: 100_000,
    isEnded: true,
  },
  "headers that go on with nothing": {
    begin: [frame(frameType.headers, 0, 1, headerBlock(requestFields("GET", "/healthz")))],
    frames: () => tenTimes(frame(frameType.continuation, 0, 1)),
    times: 100_000,
    isEnded: true,
  },
  "data frames of nothing (CVE-2019-9518)": {
    begin: [openPost],
    frames: () => tenTimes(frame(frameType.data, 0, 1)),
    times: 100_000,
    isEnded: true,
  },
  "settings whose answers nobody reads (CVE-2019-9515)": {
    frames: () => tenTimes(frame(frameType.settings, 0, 0, Buffer.concat([Buffer.of(0, 4), uint32(65_535)]))),
    times: 100_000,
    isEnded: true,
    deaf: true,
  },
  "pings whose answers nobody reads (CVE-2019-9512)": {
    frames: () => tenTimes(frame(frameType.ping, 0, 0, Buffer.alloc(8))),
    times: 100_000,
    isEnded: true,
    deaf: true,
  },
  "settings with thousands of values": {
    frames: () => [frame(frameType.settings, 0, 0, Buffer.alloc(6 * 2700, Buffer.of(0, 4, 0, 0, 255, 255)))],
    times: 20_000,
    isEnded: true,
  },
  "cancelling what never was": { frames: (n) => [cancel(n)], times: 20_000, isEnded: true },
  "frames of no known type": {
    frames: () => tenTimes(frame(0x77, 0, 0, Buffer.alloc(100))),
    times: 20_000,
    isEnded: false,
  },
  "priorities (CVE-2019-9513)": {
    frames: (n) => [frame(frameType.priority, 0, idOf(n), Buffer.concat([uint32(0), Buffer.of(1)]))],
    times: 100_000,
    isEnded: false,
  },
  "windows that grow byte by byte": {
    frames: () => tenTimes(frame(frameType.windowUpdate, 0, 0, uint32(1))),
    times: 20_000,
    isEnded: false,
  },
  "a window beyond its limit": {
    frames: () => [frame(frameType.windowUpdate, 0, 0, uint32(0x7fffffff))],
    times: 10,
    isEnded: true,
  },
  "a frame that says it had 16 MiB": {
    frames: () => [Buffer.from("ffffff000000000001", "hex"), Buffer.alloc(16_384)],
    times: 2000,
    isEnded: true,
  },
  "pushes of a client": {
    frames: () => [
      frame(
        frameType.pushPromise,
        flag.endHeaders,
        1,
        Buffer.concat([uint32(2), headerBlock(requestFields("GET", "/"))]),
      ),
    ],
    times: 1000,
    isEnded: true,
  },
  "data for no call": {
    frames: (n) => [frame(frameType.data, 0, idOf(n), search)],
    times: 20_000,
    isEnded: true,
  },
  "a compression table that cannot be": {
    frames: (n) => [
      frame(
        frameType.headers,
        flag.endHeaders | flag.endStream,
        idOf(n),
        Buffer.of(0xff, 0xff, 0xff, 0xff, 0x0f),
      ),
    ],
    times: 1000,
    isEnded: true,
  },
};

const floodMaxMs = 1500;

async function send({ frames, times, begin = [], deaf }: Flood): Promise<FrameClient> {
  const client = await openFrames(service.port);
  if (deaf) {
    client.socket.pause();
  }
  await client.send(...begin);
  const startedAt = performance.now();
  for (let count = 0; count < times && performance.now() - startedAt < floodMaxMs; count++) {
    const sending = client.send(...frames(count));
    const late = new Promise<false>((resolve) => setTimeout(resolve, floodMaxMs, false));
    if (!(await Promise.race([sending, late]))) {
      break;
    }
    if (count % 50 === 0) {
      // Node emits the end of the connection only in another iteration of the event loop.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  return client;
}

describe("30: a flood of frames", () => {
  test.each(Object.entries(floods))(
    "a flood of %s may close the connection of the sender, but does not affect other callers",
    async (_, flood) => {
      const stop = await watchHealth(service);
      const client = await send(flood);
      if (flood.isEnded) {
        const isEnded = () => {
          // A client that does not read notices the end of the connection only when it writes.
          client.socket.write(Buffer.of(0));
          return hasEnd();
        };
        const hasEnd = () =>
          client.socket.destroyed || client.frames.some(({ type }) => type === frameType.goaway);
        await expect.poll(isEnded, { timeout: patienceMs }).toBe(true);
      }
      client.socket.destroy();
      expectUnharmed(await stop());
    },
  );

  test("ten connections whose searches are cancelled immediately do not affect other callers, and leave the engines free", async () => {
    const stop = await watchHealth(service);
    const reset = floods["searches that are cancelled at once"] as Flood;
    const clients = await Promise.all(Array.from({ length: 10 }, () => send(reset)));
    for (const { socket } of clients) {
      socket.destroy();
    }
    await expectEvaluation(service.url);
    // A connection with cancelled streams delays other callers by about 40 ms (`streamResetsBurst`), and ten such connections
    // may arrive together.
    expectUnharmed(await stop(), { worstMs: 400 });
  });
});

describe("30: responses that the client does not read", () => {
  const requests = Array.from({ length: 200 }, () => ({ fen: matedFen }));
  const batch = Buffer.from(JSON.stringify({ requests }));

  const fetchPage = (path: string) => (count: number) => [
    frame(
      frameType.headers,
      flag.endHeaders | flag.endStream,
      idOf(count),
      headerBlock(requestFields("GET", path, {})),
    ),
  ];

  test.each([
    ["batches", (count: number) => evaluate(count, "/v1/eval/batch", batch)],
    ["the largest page", fetchPage("/docs/swagger-ui-bundle.js")],
    ["the OpenAPI document", fetchPage("/openapi.json")],
  ])(
    "responses to 300 calls for %s use bounded memory while the client's HTTP/2 window is zero",
    async (_, call) => {
      const stop = await watchHealth(service);
      const clients: FrameClient[] = [];
      for (let connection = 0; connection < 3; connection++) {
        const client = await openFrames(service.port, [[4, 0]]);
        clients.push(client);
        // Settings take effect when the service acknowledges them.
        await expect
          .poll(() =>
            client.frames.some(({ type, flags }) => type === frameType.settings && flags === flag.ack),
          )
          .toBe(true);
        for (let count = 0; count < 100; count++) {
          await client.send(...call(count));
        }
      }
      await new Promise((resolve) => setTimeout(resolve, 1500));
      await expectEvaluation(service.url);
      const health = await stop();
      for (const { socket } of clients) {
        socket.destroy();
      }
      expectUnharmed(health);
    },
  );

  test("the events of 50 streams use bounded memory while the client reads no data (HTTP/2 window of zero)", async () => {
    const stop = await watchHealth(service);
    const client = await openFrames(service.port, [[4, 0]]);
    const body = Buffer.from(JSON.stringify({ fen: startFen, depth: 12 }));
    for (let count = 0; count < 50; count++) {
      await client.send(...evaluate(count, "/v1/eval/stream", body));
    }
    await new Promise((resolve) => setTimeout(resolve, 1000));
    await expectEvaluation(service.url);
    const health = await stop();
    client.socket.destroy();
    expectUnharmed(health);
  });
});
