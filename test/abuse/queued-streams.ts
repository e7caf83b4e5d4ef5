import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type ClientHttp2Session, connect } from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { timesOf } from "../support/stopwatch.ts";
import { ask } from "./ask.ts";
import { quantileOf, watchHealth } from "./health-watch.ts";
import { type StartedService, startFen, useService } from "./started-service.ts";

const sessions = 40;
const streamsOfSession = 100;
const streams = sessions * streamsOfSession;

/** Each request needs a different position, because requests with the same position would share one search. */
let positions = 0;
const bodyOf = (depth: number) =>
  JSON.stringify({ fen: startFen.replace("0 1", `${positions % 50} ${1 + (positions++ % 5000)}`), depth });

interface Streams {
  /** The number of streams with an event. */
  readonly begun: number;
  /** The number of streams with a result. */
  readonly done: number;
}

/**
 * Opens 4,000 streams over 40 connections, and closes the connections after the test. If the service is too busy to accept a
 * stream, opens the stream again.
 */
async function openCalls(
  service: StartedService,
  path: "/v1/eval" | "/v1/eval/stream",
  callerOf: (index: number) => string,
): Promise<Streams> {
  const seen = { begun: 0, done: 0 };
  const open: ClientHttp2Session[] = [];
  onTestFinished(() => open.forEach((session) => void session.destroy()));

  function stream(client: ClientHttp2Session, caller: string): void {
    if (client.destroyed) {
      return;
    }
    const call = client.request({
      ":method": "POST",
      ":path": path,
      "content-type": "application/json",
      "x-forwarded-for": caller,
    });
    let said = "";
    let isRefused = false;
    call.on("error", () => {});
    call.on("response", ({ ":status": status }) => {
      isRefused = status !== 200;
    });
    call.setEncoding("utf8").on("data", (text: string) => {
      seen.begun += said === "" && !isRefused ? 1 : 0;
      said = text;
    });
    call.on("end", () => {
      seen.done += said.includes("best_move") ? 1 : 0;
      if (isRefused) {
        setTimeout(stream, 500, client, caller);
      }
    });
    call.end(bodyOf(12));
  }

  for (let session = 0; session < sessions; session++) {
    const client = connect(service.url, { localAddress: "127.0.40.1" } as object).on("error", () => {});
    open.push(client);
    await once(client, "connect");
    for (let index = 0; index < streamsOfSession; index++) {
      stream(client, callerOf(session * streamsOfSession + index));
    }
    await sleep(100);
  }
  if (path === "/v1/eval") {
    // An evaluation without a stream sends nothing while it waits.
    await sleep(5000);
  } else {
    await expect.poll(() => seen.begun, { timeout: 40_000 }).toBe(streams);
  }
  return seen;
}

/** Sends a short search of another caller, and waits briefly. Returns the milliseconds until the answer. */
async function shortSearchMs({ url }: StartedService): Promise<number> {
  const askedAt = performance.now();
  const { status, body } = await ask(`${url}/v1/eval`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: bodyOf(8),
    localAddress: "127.0.41.1",
  });
  expect(status, body).toBe(200);
  const tookMs = performance.now() - askedAt;
  await sleep(100);
  return tookMs;
}

/** Returns the processor time that the process has used, in milliseconds. */
function processorMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ").at(-1)?.split(" ") ?? [];
  // The kernel counts hundredths of a second.
  return 10 * (Number(fields[11]) + Number(fields[12]));
}

/** Tests the kinds of searches for which `isTested` returns true. */
export function testQueuedStreams(isTested: (name: string) => boolean): void {
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
        const [doneBefore, usedBefore, startedAt] = [seen.done, processorMs(service.pid), performance.now()];
        const stop = await watchHealth(service, 300);
        // After 4,000 other callers who all wait for one search, a new caller waits for 4,000 searches.
        if (callerOf === oneCaller) {
          const { all } = await timesOf(40, () => shortSearchMs(service));
          expect(quantileOf(all, 0.95)).toBeLessThan(5000);
        } else {
          await sleep(5000);
        }
        const health = await stop();
        const share = (processorMs(service.pid) - usedBefore) / (performance.now() - startedAt);
        expect(health.failed).toBe(0);
        expect(health.p95Ms, JSON.stringify(health)).toBeLessThan(100);
        // Sorting the queue for each waiting search would use a whole core.
        expect(share).toBeLessThan(0.6);
        expect(seen.done - doneBefore).toBeGreaterThan(100);
      },
    );
  });
}
