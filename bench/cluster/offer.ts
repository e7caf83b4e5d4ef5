import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { nextQuestion } from "../../test/cluster/traffic.ts";
import { createRandom } from "../../test/support/random.ts";

export interface Answered {
  readonly status: number;
  readonly tookMs: number;
  /** Milliseconds until the response, minus the time of the search. */
  readonly waitedMs: number;
  readonly endedAt: number;
}

export function createClient(url: string): ((depth: number) => Promise<Answered>) & Disposable {
  const agent = new Agent({ keepAlive: true });
  const ask = async (depth: number): Promise<Answered> => {
    const askedAt = performance.now();
    const call = request(`${url}/v1/eval`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      agent,
    });
    call.end(JSON.stringify(nextQuestion(depth)));
    const [response] = (await once(call, "response")) as [IncomingMessage];
    const body = await text(response);
    const tookMs = performance.now() - askedAt;
    const status = response.statusCode ?? 0;
    const searchedMs = status === 200 ? JSON.parse(body).search.time_ms : 0;
    return { status, tookMs, waitedMs: tookMs - searchedMs, endedAt: askedAt + tookMs };
  };
  return Object.assign(ask, { [Symbol.dispose]: () => agent.destroy() });
}

/** Sends requests at random times, like many independent callers. Does not wait for answers. */
export async function offer(
  ask: (depth: number) => Promise<Answered>,
  perSecond: number,
  seconds: number,
  depthOf: (chance: number) => number,
): Promise<readonly Answered[]> {
  const random = createRandom(1);
  const startedAt = performance.now();
  const asked: Promise<Answered>[] = [];
  const everyMs = 1000 / perSecond;
  let dueMs = 0;
  while (dueMs < seconds * 1000) {
    const early = startedAt + dueMs - performance.now();
    if (early > 1) {
      await sleep(early);
    }
    asked.push(
      ask(depthOf(random.real())).catch(() => ({
        status: 0,
        tookMs: Number.NaN,
        waitedMs: Number.NaN,
        endedAt: performance.now(),
      })),
    );
    dueMs += everyMs * -Math.log(1 - random.real());
  }
  return Promise.all(asked);
}
