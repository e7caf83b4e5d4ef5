import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, vi } from "vitest";
import { patienceMs } from "../support/patience.ts";
import { timesOf } from "../support/stopwatch.ts";
import { type Answer, ask, patiently } from "./ask.ts";
import { quantileOf } from "./health-watch.ts";
import { type StartedService, startFen } from "./started-service.ts";

/** Each request needs a different position, because requests with the same position would share one search. */
let positions = 0;
const nextFen = () => startFen.replace(/1$/, String(1 + (positions++ % 5000)));

interface Caller {
  readonly address: string;
  readonly key?: string | undefined;
}

export function evaluate(
  { url }: StartedService,
  { address, key }: Caller,
  limits: object,
  signal?: AbortSignal,
): Promise<Answer> {
  return ask(`${url}/v1/eval`, {
    method: "POST",
    headers: { "content-type": "application/json", ...(key && { authorization: `Bearer ${key}` }) },
    body: JSON.stringify({ fen: nextFen(), ...limits }),
    localAddress: address,
    ...(signal && { signal }),
  });
}

export async function createKey({ url }: StartedService, address: string): Promise<Caller> {
  const headers = { "content-type": "application/json" };
  const { body } = await ask(`${url}/v1/keys`, {
    method: "POST",
    headers,
    body: "{}",
    localAddress: address,
  });
  return { address, key: JSON.parse(body).key };
}

/** Keeps the searches of each caller running until the test ends. Resolves when the slots are busy. */
export async function occupy(
  service: StartedService,
  callers: readonly Caller[],
  atATime: number,
  limits: object,
): Promise<readonly Answer[]> {
  const stopping = new AbortController();
  const answers: Answer[] = [];
  const one = async (caller: Caller) => {
    while (!stopping.signal.aborted) {
      answers.push(await evaluate(service, caller, limits, stopping.signal));
      await sleep(200, undefined, { signal: stopping.signal });
    }
  };
  const running = callers.flatMap((caller) =>
    Array.from({ length: atATime }, () => one(caller).catch(() => {})),
  );
  onTestFinished(async () => {
    stopping.abort();
    await Promise.all(running);
  });
  await sleep(1500);
  return answers;
}

/**
 * Sends short searches from many addresses, one after another. Returns the response time that 95 % of the searches
 * need, including the time in `Retry-After` if the service is too busy.
 */
export async function p95OfOthers(service: StartedService, tries: number, pauseMs = 0): Promise<number> {
  const { all } = await timesOf(tries, async (index) => {
    await sleep(pauseMs);
    const startedAt = performance.now();
    const caller = { address: `127.0.31.${1 + (index % 200)}` };
    const { status, body } = await patiently(() => evaluate(service, caller, { depth: 10 }));
    expect(status, body).toBe(200);
    return performance.now() - startedAt;
  });
  // No search waits until a long search ends.
  expect(quantileOf(all, 1)).toBeLessThan(10_000);
  return quantileOf(all, 0.95);
}

export const minute = { depth: 30, multipv: 10, movetime_ms: 60_000 };
const keylessMax = { depth: 20, multipv: 5, movetime_ms: 5000 };
export const addressesOf = (count: number) =>
  Array.from({ length: count }, (_, index) => `127.0.30.${1 + index}`);

interface Search {
  readonly stop_reason: string;
  readonly depth: number;
  readonly time_ms: number;
}

function fullSearches(answers: readonly Answer[]): readonly Search[] {
  return answers.filter(({ status }) => status === 200).map(({ body }) => JSON.parse(body).search);
}

/** Fails if short searches take longer than `maxMs` behind these searches of 5 s, or if one of these ends early. */
export async function expectServedBehindKeyless(
  service: StartedService,
  callers: number,
  maxMs: number,
): Promise<void> {
  const keyless = addressesOf(callers).map((address) => ({ address }));
  const answers = await occupy(service, keyless, 2, keylessMax);
  expect(await p95OfOthers(service, 40, 50)).toBeLessThan(maxMs);
  // The short searches may have ended before the first long one.
  await vi.waitFor(() => expect(fullSearches(answers).length).toBeGreaterThan(0), patienceMs);
  for (const search of fullSearches(answers)) {
    // A fast machine reaches the depth before the time limit.
    if (search.stop_reason === "depth") {
      expect(search.depth).toBe(keylessMax.depth);
    } else {
      expect(search.stop_reason).toBe("movetime");
      expect(search.time_ms).toBeGreaterThan(4900);
    }
  }
}
