import { describe, expect, test } from "vitest";
import { createKey, expectServedBehindKeyless, minute, occupy, p95OfOthers } from "./fair-share.ts";
import { useService } from "./started-service.ts";

describe("39: callers who keep every slot busy", () => {
  const service = useService({ KIBITZ_ACCESS: "public", KIBITZ_ENGINE_MEMORY_MB: "1000" });

  test("short searches of other callers take at most 2 s behind one key with four searches of a minute", async () => {
    await occupy(service, [await createKey(service, "127.0.30.1")], 4, minute);
    expect(await p95OfOthers(service, 40)).toBeLessThan(2000);
  });

  test("short searches of other callers take at most 5 s behind five keyless callers with two searches of 5 s each, which run to their end", async () => {
    await expectServedBehindKeyless(service, 5, 5000);
  });
});
