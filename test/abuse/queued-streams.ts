import { type ClientHttp2Session, connect } from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { timesOf } from "../support/stopwatch.ts";
import { ask, patiently } from "./ask.ts";
import { quantileOf, watchHealth } from "./health-watch.ts";
import { cpuMsOf } from "./processes-of.ts";
import { type StartedService, startFen, useService } from "./started-service.ts";

const sessions = 40;
const streamsOfSession = 100;
/** A busy machine may need this time for a hundred searches of the streams. */
const searchesMaxMs = 120_000;
/** A busy machine may need several minutes to open 4,000 streams. */
const testMaxMs = 10 * 60_000;

/** Each request needs a different position, because requests with the same position would share one search. */
let positions = 0;
const bodyOf = (depth: number) =>
  JSON.stringify({ fen: startFen.replace("0 1", `${positions % 50} ${1 + (positions++ % 5000)}`), depth });

/**
 * Opens 4,000 streams over 40 connections, and closes the connections after the test. Each connection opens its streams one after
 * another. If the service is too busy to accept a stream, opens the stream again after the time in `Retry-After`.
 */
async function openCalls(
  { url }: StartedService,
  path: "/v1/eval" | "/v1/eval/stream",
  callerOf: (index: number) => string,
): Promise<{ readonly done: number }> {
  const seen = { done: 0 };
  const clients = Array.from({ length: sessions }, () =>
    connect(url, { localAddress: "127.0.40.1" } as object).on("error", () => {}),
  );
  onTestFinished(() => clients.forEach((session) => void session.destroy()));

  /** Resolves when the first event of the stream arrives. */
  function stream(client: ClientHttp2Session, caller: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const call = client.request({
      ":method": "POST",
      ":path": path,
      "content-type": "application/json",
      "x-forwarded-for": caller,
    });
    let retryMs: number | undefined;
    let said = "";
    call.on("error", () => {});
    call.on("response", ({ ":status": status, "retry-after": retryAfterS }) => {
      retryMs = status === 200 ? undefined : 1000 * Number(retryAfterS);
    });
    call.setEncoding("utf8").on("data", (text: string) => {
      if (retryMs === undefined) {
        said = text;
        resolve();
      }
    });
    call.on("end", () => {
      seen.done += said.includes("best_move") ? 1 : 0;
      if (retryMs !== undefined) {
        setTimeout(() => client.destroyed || stream(client, caller).then(resolve), retryMs);
      }
    });
    call.end(bodyOf(12));
    return promise;
  }

  await Promise.all(
    clients.map(async (client, session) => {
      for (let index = 0; index < streamsOfSession; index++) {
        const begins = stream(client, callerOf(session * streamsOfSession + index));
        // An evaluation without a stream sends nothing while it waits.
        await (path === "/v1/eval" ? sleep(20) : begins);
      }
    }),
  );
  return seen;
}

/**
 * Sends a short search of another caller, and waits briefly. Returns the milliseconds until the answer. If the service is too busy
 * to accept the search, includes the time in `Retry-After` and the time of the next attempt.
 */
async function shortSearchMs({ url }: StartedService): Promise<number> {
  const askedAt = performance.now();
  const body = bodyOf(8);
  const send = () =>
    ask(`${url}/v1/eval`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
      localAddress: "127.0.41.1",
    });
  const answer = await patiently(send);
  expect(answer.status, answer.body).toBe(200);
  const tookMs = performance.now() - askedAt;
  await sleep(100);
  return tookMs;
}

/**
 * Tests the kinds of searches for which `isTested` returns true.
 * @param shareMax the maximum share of a core that the service uses while the searches wait. A slow core needs a larger share.
 */
export function testQueuedStreams(
  isTested: (name: string) => boolean,
  shareMax = Number.POSITIVE_INFINITY,
): void {
  describe("47: 4,000 searches that wait in the queue", () => {
    const service = useService({ KIBITZ_QUEUE_MAX_WAIT_MS: "600000", KIBITZ_TRUST_PROXY: "127.0.40.1" });

    const oneCaller = () => "192.0.2.1";
    const manyCallers = (index: number) => `10.1.${index >> 8}.${index & 255}`;

    const rows = [
      ["4,000 streams of one caller", "/v1/eval/stream", oneCaller],
      ["4,000 evaluations of one caller", "/v1/eval", oneCaller],
      ["4,000 streams of 4,000 callers", "/v1/eval/stream", manyCallers],
    ] as const;

    test.each(rows.filter(([name]) => isTested(name)))(
      "95 of 100 health probes take less than 100 ms while %s wait, and the searches go on",
      async (_, path, callerOf) => {
        const seen = await openCalls(service, path, callerOf);
        const [doneBefore, usedBefore, startedAt] = [seen.done, cpuMsOf(service.pid), performance.now()];
        const stop = await watchHealth(service, 300);
        // After 4,000 other callers who all wait for one search, a new caller waits for 4,000 searches.
        if (callerOf === oneCaller) {
          const { all } = await timesOf(40, () => shortSearchMs(service));
          expect(quantileOf(all, 0.95)).toBeLessThan(5000);
        } else {
          await sleep(5000);
        }
        const share = (cpuMsOf(service.pid) - usedBefore) / (performance.now() - startedAt);
        await expect.poll(() => seen.done - doneBefore, { timeout: searchesMaxMs }).toBeGreaterThan(100);
        const health = await stop();
        expect(health.failed).toBe(0);
        expect(health.p95Ms, JSON.stringify(health)).toBeLessThan(100);
        expect(share).toBeLessThan(shareMax);
      },
      testMaxMs,
    );
  });
}
