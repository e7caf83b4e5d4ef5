import { createHook } from "node:async_hooks";
import type { ELDHistogram } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test, vi } from "vitest";
import { ownerNow } from "../../../src/request/owner.ts";
import { createEventLoopLag } from "../../../src/thread/overload.ts";
import { ask, post } from "../../abuse/ask.ts";
import { patienceMs } from "../../support/patience.ts";
import { rateOf, usePlansFile } from "../../support/plans-file.ts";
import { useRedis } from "../../support/redis.ts";
import { type RunningApp, useApp } from "../../support/running-app.ts";

/** Code that serves all requests. The first frame of `src/` in a stack is compared with this pattern. */
const serviceCode =
  /src\/(engine|log|metrics|tracing|wiring)\/|src\/analysis\/(scheduler|queue-places)|src\/storage\/sqlite\/answer-store|isLasting|at (connect|lose) .*redis\/connection/;

/** Only the garbage collector ends these. */
const withoutEnd = new Set(["PROMISE", "RANDOMBYTESREQUEST"]);

/**
 * Returns the timers, handles and operations that were begun in the context of a request or connection although they serve all:
 * those of {@link serviceCode}, and those that last longer than the requests.
 */
async function begunInRequests(send: () => Promise<unknown>): Promise<readonly string[]> {
  const open = new Map<number, string>();
  const ofService: string[] = [];
  const hook = createHook({
    init(id, type) {
      if (withoutEnd.has(type) || ownerNow() === undefined) {
        return;
      }
      const stack = new Error().stack?.split("\n").slice(2) ?? [];
      const begun = [type, ...stack].join("\n");
      open.set(id, begun);
      if (serviceCode.test(stack.find((line) => line.includes("/src/")) ?? "")) {
        ofService.push(begun);
      }
    },
    destroy: (id) => void open.delete(id),
  }).enable();
  try {
    await send();
    // If something is left, it is returned below.
    await vi.waitFor(() => expect(open.size).toBe(0), patienceMs).catch(() => {});
    return [...ofService, ...open.values()];
  } finally {
    hook.disable();
  }
}

let nodes = 5000;

/** Sends calls of all kinds. Each connection ends after its answer. Several searches need several engines at a time. */
async function sendCalls({ url }: RunningApp): Promise<void> {
  const fresh = () => ({ fen: "startpos", nodes: nodes++ });
  const shared = fresh();
  const headers = { Connection: "close" };
  const answers = await Promise.all([
    post(`${url}/v1/eval`, fresh(), headers),
    post(`${url}/v1/bestmove`, shared, headers),
    post(`${url}/v1/eval`, shared, headers),
    post(`${url}/v1/eval/stream`, fresh(), headers),
    post(`${url}/v1/eval/batch`, { requests: [fresh(), fresh()] }, headers),
    post(`${url}/v1/review`, { moves: ["e4", "e5"], nodes: 5000 }, headers),
    post(`${url}/v1/keys`, {}, headers),
    post(`${url}/chess.analysis.v1.AnalysisService/Evaluate`, fresh(), headers),
    ask(`${url}/engines`),
    ask(`${url}/readyz`),
  ]);
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
}

/** A batch joins a search that waits in the queue. The first caller of this search leaves, and the caller of a running search. */
async function sendJoiners({ url }: RunningApp): Promise<void> {
  const headers = { Connection: "close" };
  const leaving = new AbortController();
  const long = (movetime_ms: number, signal?: AbortSignal) =>
    post(`${url}/v1/eval`, { fen: "startpos", depth: 30, multipv: 10, movetime_ms }, headers, signal);
  const running = long(60_000, leaving.signal);
  const busy = [long(1000), long(1001)];
  await sleep(200);
  const shared = { fen: "startpos", nodes: nodes++ };
  const first = post(`${url}/v1/eval`, shared, headers, leaving.signal);
  await sleep(100);
  const joined = post(`${url}/v1/eval/batch`, { requests: [shared] }, headers);
  await sleep(100);
  leaving.abort();
  await expect(running).rejects.toThrow("aborted");
  await expect(first).rejects.toThrow("aborted");
  const answers = await Promise.all([...busy, joined]);
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
}

const manyAtOnce = {
  depth_max: 30,
  multipv_max: 10,
  movetime_ms_max: 60_000,
  concurrent: 20,
  rates: [rateOf("minute", 100_000, 60)],
};
const settings = {
  KIBITZ_PLANS: usePlansFile({ id: "keyless", limits: manyAtOnce }, { id: "free", limits: manyAtOnce }),
  KIBITZ_ACCESS: "public",
  KIBITZ_QUEUE_MAX_WAIT_MS: "60000",
  KIBITZ_SLOTS: "3",
  KIBITZ_STORE_MB: "10",
  KIBITZ_KEYS_PER_DAY: "1000",
};

/** A measurement of the thread that really runs, and never finds the thread late. */
const newLag = () =>
  createEventLoopLag({ count: 0, enable: () => true, disable: () => true, reset() {} } as ELDHistogram);

describe("what serves all requests is started outside the context of a request:", () => {
  const redis = useRedis();

  describe("on one node", () => {
    const app = useApp(settings, { lag: newLag() });

    test("engines, their pool, shared searches, stores and the measurement of the thread", async () => {
      expect(await begunInRequests(() => sendCalls(app))).toEqual([]);
    });

    test("the queue and the stop of an engine, for callers who join a search or leave it", async () => {
      expect(await begunInRequests(() => sendJoiners(app))).toEqual([]);
    });
  });

  describe("with Redis", () => {
    const env: Record<string, string> = { ...settings };
    Object.defineProperty(env, "KIBITZ_REDIS_URL", { get: () => redis.url, enumerable: true });
    const app = useApp(env, { lag: newLag() });

    test("the connection, after it was lost during calls", async () => {
      expect(await begunInRequests(() => sendCalls(app))).toEqual([]);
      const left = await begunInRequests(async () => {
        redis.pause();
        await post(`${app.url}/v1/eval`, { fen: "startpos", nodes: nodes++ }, { Connection: "close" });
        redis.resume();
      });
      expect(left).toEqual([]);
    });
  });
});
