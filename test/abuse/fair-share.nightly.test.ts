import { describe, expect, test } from "vitest";
import {
  addressesOf,
  createKey,
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
