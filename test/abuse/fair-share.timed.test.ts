import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { timesOf } from "../support/stopwatch.ts";
import { type Answer, ask } from "./ask.ts";
import { quantileOf } from "./health-watch.ts";
import { type StartedService, startFen, useService } from "./started-service.ts";

/** Each request needs a different position, because requests with the same position would share one search. */
let positions = 0;
const nextFen = () => startFen.replace(/1$/, String(1 + (positions++ % 5000)));

interface Caller {
  readonly address: string;
  readonly key?: string | undefined;
}

function evaluate(
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

async function createKey({ url }: StartedService, address: string): Promise<Caller> {
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
async function occupy(
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

/** Sends short searches from many addresses, one after another. Returns the response time that 95 % of the searches need. */
async function p95OfOthers(service: StartedService, tries: number, pauseMs = 0): Promise<number> {
  const { all } = await timesOf(tries, async (index) => {
    await sleep(pauseMs);
    const startedAt = performance.now();
    const { status, body } = await evaluate(
      service,
      { address: `127.0.31.${1 + (index % 200)}` },
      { depth: 10 },
    );
    expect(status, body).toBe(200);
    return performance.now() - startedAt;
  });
  // No search waits until a long search ends.
  expect(quantileOf(all, 1)).toBeLessThan(10_000);
  return quantileOf(all, 0.95);
}

const minute = { depth: 30, multipv: 10, movetime_ms: 60_000 };
const keylessMax = { depth: 20, multipv: 5, movetime_ms: 5000 };
const addressesOf = (count: number) => Array.from({ length: count }, (_, index) => `127.0.30.${1 + index}`);

interface Search {
  readonly stop_reason: string;
  readonly depth: number;
  readonly time_ms: number;
}

function fullSearches(answers: readonly Answer[]): readonly Search[] {
  return answers.filter(({ status }) => status === 200).map(({ body }) => JSON.parse(body).search);
}

describe("39: callers who keep every slot busy", () => {
  const service = useService({ KIBITZ_ACCESS: "public", KIBITZ_ENGINE_MEMORY_MB: "1000" });

  test("short searches of other callers take at most 2 s behind one key with four searches of a minute", async () => {
    await occupy(service, [await createKey(service, "127.0.30.1")], 4, minute);
    expect(await p95OfOthers(service, 60)).toBeLessThan(2000);
  });

  test("short searches of other callers take at most 5 s behind five keys of five addresses with four searches of a minute each", async () => {
    const keys = await Promise.all(addressesOf(5).map((address) => createKey(service, address)));
    await occupy(service, keys, 4, minute);
    expect(await p95OfOthers(service, 60)).toBeLessThan(5000);
  });

  test.each([
    [1, 2000],
    [5, 5000],
  ])(
    "short searches of other callers are answered in time behind %i keyless callers with two searches of 5 s each, which run to their end",
    async (callers, maxMs) => {
      const answers = await occupy(
        service,
        addressesOf(callers).map((address) => ({ address })),
        2,
        keylessMax,
      );
      expect(await p95OfOthers(service, 60, 50)).toBeLessThan(maxMs);
      const searches = fullSearches(answers);
      expect(searches.length).toBeGreaterThan(0);
      for (const search of searches) {
        // A fast machine reaches the depth before the time limit.
        if (search.stop_reason === "depth") {
          expect(search.depth).toBe(keylessMax.depth);
        } else {
          expect(search.stop_reason).toBe("movetime");
          expect(search.time_ms).toBeGreaterThan(4900);
        }
      }
    },
  );
});

describe("39: callers who keep the only engine busy", () => {
  // Memory for one engine.
  const service = useService({
    KIBITZ_ACCESS: "public",
    KIBITZ_ENGINE_MEMORY_MB: "150",
    KIBITZ_SLOTS: "1",
  });

  test("short searches of other callers take at most 2 s behind a key with four searches of a minute", async () => {
    await occupy(service, [await createKey(service, "127.0.30.1")], 4, minute);
    expect(await p95OfOthers(service, 40, 50)).toBeLessThan(2000);
    expect(service.engines().length).toBe(1);
  });

  test("a search of 5 s ends although short searches of other callers never stop", async () => {
    const key = await createKey(service, "127.0.30.2");
    const search = evaluate(service, key, { ...minute, movetime_ms: 5000 });
    let hasEnded = false;
    search.then(() => {
      hasEnded = true;
    });
    const startedAt = performance.now();
    for (let index = 0; !hasEnded; index++) {
      await evaluate(service, { address: `127.0.32.${1 + (index % 200)}` }, { depth: 10 });
      await sleep(200);
    }
    const { status, body } = await search;
    expect(status, body).toBe(200);
    expect(JSON.parse(body).search.time_ms).toBeGreaterThan(4900);
    // At most 5 s are lost, and some time is used by the short searches.
    expect(performance.now() - startedAt).toBeLessThan(15_000);
  });
});
