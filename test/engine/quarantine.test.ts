import { describe, expect, test, vi } from "vitest";
import { createQuarantine } from "../../src/engine/search-with-retry.ts";
import { patienceMs } from "../support/patience.ts";
import { buildOf } from "./build-of.ts";
import { jobOf } from "./job-of.ts";

const build = buildOf();
const job = jobOf();

describe("a position", () => {
  test("a position is refused after two failures that were the engines' own", () => {
    const quarantine = createQuarantine(60_000);
    quarantine.note(build, job, "exited");
    expect(quarantine.refusedMs(build, job)).toBe(0);
    quarantine.note(build, job, "deaf");
    expect(quarantine.refusedMs(build, job)).toBeGreaterThan(59_000);
  });

  test.each(["killed", "suspended", "no_start", "confused"] as const)(
    "a position is not blamed for %s",
    (kind) => {
      const quarantine = createQuarantine();
      for (let time = 0; time < 5; time++) {
        quarantine.note(build, job, kind);
      }
      expect(quarantine.refusedMs(build, job)).toBe(0);
    },
  );

  test("a position is refused on the build that it breaks, and on no other", () => {
    const quarantine = createQuarantine();
    quarantine.note(build, job, "overran");
    quarantine.note(build, job, "overran");
    expect(quarantine.refusedMs(build, job)).toBeGreaterThan(0);
    expect(quarantine.refusedMs(buildOf({ path: "native" }), job)).toBe(0);
  });

  test("a quarantined position is refused with any options and limits", () => {
    const quarantine = createQuarantine();
    quarantine.note(build, jobOf({ nodes: 5000 }), "exited");
    quarantine.note(build, jobOf({ searchMoves: ["e2e4"] }), "exited");
    expect(quarantine.refusedMs(build, job)).toBeGreaterThan(0);
  });

  test("a quarantined position may be tried again after a while", async () => {
    const quarantine = createQuarantine(50);
    quarantine.note(build, job, "overran");
    quarantine.note(build, job, "overran");
    await vi.waitFor(() => expect(quarantine.refusedMs(build, job)).toBe(0), patienceMs);
  });
});
