import { describe, expect, test, vi } from "vitest";
import { EngineFailure } from "../../src/engine/engine.ts";
import { createQuarantine } from "../../src/engine/search-with-retry.ts";
import { patienceMs } from "../support/patience.ts";
import { buildOf } from "./build-of.ts";
import { jobOf } from "./job-of.ts";

const build = buildOf();
const job = jobOf();
const crash = new EngineFailure("exited", "crashed");
const overrun = new EngineFailure("overtime", "ignored stop", { blamesPosition: true });

describe("a position", () => {
  test("a position is refused after two failures that were the engines' own", () => {
    const quarantine = createQuarantine(60_000);
    quarantine.note(build, job, crash);
    expect(quarantine.refusedMs(build, job)).toBe(0);
    quarantine.note(build, job, new EngineFailure("flooded", "printed without an end"));
    expect(quarantine.refusedMs(build, job)).toBeGreaterThan(59_000);
  });

  test.each(["killed", "unresponsive", "overtime", "no_start", "protocol_error"] as const)(
    "a position is not blamed for %s: the machine may be slow, or the engine broken",
    (kind) => {
      const quarantine = createQuarantine();
      for (let time = 0; time < 5; time++) {
        quarantine.note(build, job, new EngineFailure(kind, "not the position"));
      }
      expect(quarantine.refusedMs(build, job)).toBe(0);
    },
  );

  test("a position is refused on the build that it breaks, and on no other", () => {
    const quarantine = createQuarantine();
    quarantine.note(build, job, overrun);
    quarantine.note(build, job, overrun);
    expect(quarantine.refusedMs(build, job)).toBeGreaterThan(0);
    expect(quarantine.refusedMs(buildOf({ path: "native" }), job)).toBe(0);
  });

  test("a quarantined position is refused with any options and limits", () => {
    const quarantine = createQuarantine();
    quarantine.note(build, jobOf({ nodes: 5000 }), crash);
    quarantine.note(build, jobOf({ searchMoves: ["e2e4"] }), crash);
    expect(quarantine.refusedMs(build, job)).toBeGreaterThan(0);
  });

  test("a quarantined position may be tried again after a while", async () => {
    const quarantine = createQuarantine(50);
    quarantine.note(build, job, overrun);
    quarantine.note(build, job, overrun);
    await vi.waitFor(() => expect(quarantine.refusedMs(build, job)).toBe(0), patienceMs);
  });
});
