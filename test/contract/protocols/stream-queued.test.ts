import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { patienceMs } from "../../support/patience.ts";
import { rateOf, usePlansFile } from "../../support/plans-file.ts";
import { useApp } from "../../support/running-app.ts";
import { startFen } from "./cases/case.ts";
import { post } from "./post.ts";
import type { Plain } from "./protocol.ts";
import { type StreamClient, streamClients } from "./stream-clients.ts";
import { watchWork } from "./watch-work.ts";

const engines = createEnginesInProcess();
const { expectWork, expectNoWork } = watchWork(engines);
const app = useApp({ KIBITZ_SLOTS: "1", KIBITZ_QUEUE_MAX_WAIT_MS: "20000" }, { engines });
const never = new AbortController().signal;
const patience = { timeout: patienceMs };
const long = { fen: startFen, depth: 30, movetime_ms: 10_000 };

/**
 * Runs `act` while a search occupies the only engine of the server. The search ends when `act` calls `release`, or when `act`
 * ends.
 */
async function whileBusy<T>(act: (release: () => void) => Promise<T>): Promise<T> {
  const leave = new AbortController();
  const holding = fetch(`${app.url}/v1/eval`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(long),
    signal: leave.signal,
  }).catch(() => undefined);
  await expectWork();
  try {
    return await act(() => leave.abort());
  } finally {
    leave.abort();
    await holding;
    await expectNoWork();
  }
}

const canceledStreams = () =>
  app.logged.filter((line) => {
    const { method, code } = line as Plain;
    return method === "StreamEvaluate" && code === "canceled";
  }).length;
const kindsOf = (events: readonly Plain[]) => [...new Set(events.flatMap(Object.keys))];
const queued = (place: number) => ({ queued: { place, expected_wait_ms: expect.any(Number) } });

describe.each(streamClients)("$name", (kind) => {
  let client: StreamClient;
  beforeAll(() => {
    client = kind.open(app.url);
  });
  afterAll(() => client[Symbol.asyncDispose]());
  const depth = 2 + streamClients.indexOf(kind);

  test("a stream reports the queue position of its search, and then evaluations", async () => {
    const events = await whileBusy(async (release) => {
      const events: Plain[] = [];
      for await (const event of client.stream("streamEvaluate", { fen: startFen, depth }, never)) {
        events.push(event);
        release();
      }
      return events;
    });
    expect(events[0]).toEqual(queued(1));
    expect(kindsOf(events)).toEqual(["queued", "evaluation"]);
    const { search } = (events.at(-1)?.evaluation ?? {}) as { readonly search: Plain };
    expect(search).toMatchObject({ stop_reason: "depth", queue_ms: expect.toSatisfy((ms) => ms > 0) });
  });

  test("a waiting stream is removed from the queue when its client disconnects", async () => {
    await whileBusy(async () => {
      const leave = new AbortController();
      const read = async () => {
        for await (const _ of client.stream("streamEvaluate", { ...long, multipv: 2 }, leave.signal)) {
          leave.abort();
        }
      };
      const leftBefore = canceledStreams();
      await read().catch(() => {});
      await expect.poll(canceledStreams, patience).toBe(leftBefore + 1);
      // No other search is waiting.
      const after = new AbortController();
      const events: unknown[] = [];
      for await (const event of client.stream("streamEvaluate", { ...long, multipv: 3 }, after.signal)) {
        after.abort();
        events.push(event);
        break;
      }
      expect(events).toEqual([queued(1)]);
    });
  });
});

const ask = (headers: Readonly<Record<string, string>>, depth: number, signal?: AbortSignal) =>
  fetch(`${app.url}/v1/eval`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "text/event-stream", ...headers },
    body: JSON.stringify({ fen: startFen, depth }),
    ...(signal && { signal }),
  });

test("an event stream of plain JSON begins with the queue position, and only the last evaluation has `done`", async () => {
  const text = await whileBusy(async (release) => {
    const response = await ask({}, 15);
    let all = "";
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      all += chunk;
      release();
    }
    return all;
  });
  const events = [...text.matchAll(/^event: (\w+)\ndata: (.*)$/gm)].map(([, name, data]) => [name, data]);
  const names = events.map(([name]) => name);
  expect([names[0], names.at(-1)]).toEqual(["queued", "done"]);
  expect(Object.keys(JSON.parse(events[0]?.[1] ?? ""))).toEqual(["place", "expected_wait_ms"]);
  expect(events.at(-1)?.[1]).toBe(events.findLast(([name]) => name === "evaluation")?.[1]);
});

test("a stream reports a new queue position when the queue advances", async () => {
  await whileBusy(async (release) => {
    const [first, second] = await Promise.all([ask({}, 16), ask({}, 17)]);
    const readPlaces = (response: Response) => {
      const seen: string[] = [];
      const read = (async () => {
        for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
          seen.push(...[...chunk.matchAll(/"place":(\d+)/g)].map(([, place]) => place ?? ""));
        }
      })();
      return { seen, read };
    };
    const [one, two] = [readPlaces(first), readPlaces(second)];
    await expect.poll(() => [one.seen[0], two.seen[0]].toSorted(), patience).toEqual(["1", "2"]);
    await sleep(1500);
    // The queue positions are unchanged, so the streams have no new events.
    expect([one.seen.length, two.seen.length]).toEqual([1, 1]);
    release();
    await Promise.all([one.read, two.read]);
  });
});

test("the log line of a stream has its queue time, and shows whether the client disconnected in the queue", async () => {
  const lineOf = async (requestId: string) => {
    const find = () =>
      app.logged.find((line) => (line as { requestId?: string }).requestId === requestId) as Plain;
    await vi.waitFor(() => expect(find()).toBeDefined(), patienceMs);
    return find();
  };
  await whileBusy(async (release) => {
    const leave = new AbortController();
    const left = await ask({ "X-Request-Id": "left-queue" }, 18, leave.signal);
    expect(left.status).toBe(200);
    leave.abort();
    const line = await lineOf("left-queue");
    expect(line).toMatchObject({ method: "StreamEvaluate", code: "canceled" });
    expect(line.engine).toBeUndefined();
    const waited = await ask({ "X-Request-Id": "waited" }, 14);
    release();
    await waited.text();
  });
  expect(await lineOf("waited")).toMatchObject({
    code: "ok",
    engine: "stockfish-19-lite",
    depth: 14,
    cached: false,
    queueMs: expect.toSatisfy((ms) => ms > 0),
  });
});

describe("a stream that is refused", () => {
  const small = useApp(
    {
      KIBITZ_SLOTS: "1",
      KIBITZ_QUEUE_MAX_WAIT_MS: "50",
      KIBITZ_ACCESS: "public",
      KIBITZ_PLANS: usePlansFile({
        id: "keyless",
        limits: { concurrent: 8, rates: [rateOf("burst", 6, 600)] },
      }),
    },
    { engines: createEnginesInProcess() },
  );
  const events = (depth: number, signal?: AbortSignal) =>
    fetch(`${small.url}/v1/eval/stream`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ fen: startFen, depth }),
      ...(signal && { signal }),
    });

  test("a stream that is refused before it starts gets an HTTP error status with a problem document", async () => {
    const leave = new AbortController();
    const holding = await events(20, leave.signal);
    expect(holding.status).toBe(200);
    const overloaded = await events(19);
    expect([overloaded.status, await overloaded.json()]).toMatchObject([503, { code: "overloaded" }]);
    const tooDeep = await events(30);
    expect([tooDeep.status, await tooDeep.json()]).toMatchObject([402, { code: "upgrade_needed" }]);
    // A rejected request does not use the window, but a successful request does.
    const mated = { fen: "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3" };
    await expect.poll(async () => (await post(`${small.url}/v1/eval`, mated)).status, patience).toBe(429);
    const limited = await events(2);
    expect([limited.status, await limited.json()]).toMatchObject([429, { code: "rate_limited" }]);
    leave.abort();
  });
});
