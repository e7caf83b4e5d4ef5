import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import {
  addressesOf,
  createKey,
  evaluate,
  expectServedBehindKeyless,
  minute,
  occupy,
  p95OfOthers,
} from "./fair-share.ts";
import { useService } from "./started-service.ts";

describe("39: callers who keep every slot busy", () => {
  const service = useService({ KIBITZ_ACCESS: "public", KIBITZ_ENGINE_MEMORY_MB: "1000" });

  test("short searches of other callers take at most 5 s behind five keys of five addresses with four searches of a minute each", async () => {
    const keys = await Promise.all(addressesOf(5).map((address) => createKey(service, address)));
    await occupy(service, keys, 4, minute);
    expect(await p95OfOthers(service, 60)).toBeLessThan(5000);
  });

  test("short searches of other callers take at most 2 s behind one keyless caller with two searches of 5 s each, which run to their end", async () => {
    await expectServedBehindKeyless(service, 1, 2000);
  });
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
