import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { rowsWith } from "../support/needs.ts";
import { quick } from "./cases.ts";
import type { Program } from "./language.ts";
import { languages } from "./languages/index.ts";
import { holdEngine, useServiceOfOneEngine, waysToLeave } from "./leaving.ts";
import { newCaller, openProbe, type Probe } from "./probe.ts";

/** The abandoned search would take a minute. A test fails if the search does not stop within this timeout. */
const patient = { timeout: 30_000 };

const { app, metrics } = useServiceOfOneEngine();
const probes = languages.flatMap(({ needs, probes }) => rowsWith(needs, ...probes));

describe.each(probes)("$name", (program: Program) => {
  let probe: Probe;
  beforeAll(() => {
    probe = openProbe(program, app.url);
  });
  afterAll(() => probe.close());

  test("a stream that waits for an engine begins with its queue position", async () => {
    const holder = holdEngine(app.url);
    await expect.poll(() => metrics.print(), patient).toMatch(/^kibitz_slots_busy 1$/m);
    // The caller of the long search waits for its slot. A short search of another caller would run beside the slot.
    const asked = probe.ask({ method: "StreamEvaluate", request: { ...quick, multipv: 2 } });
    await expect.poll(() => metrics.print(), patient).toMatch(/^kibitz_queue_length 1$/m);
    await holder.leave();
    const { code, messages } = await asked;
    expect(code).toBe("OK");
    expect(messages[0]).toEqual({ queued: { place: 1, expectedWaitMs: expect.any(Number) } });
    expect(messages.at(-1)?.evaluation.search.stopReason).toBe("STOP_REASON_DEPTH");
  });

  test.each(waysToLeave)(
    "the engine is free after a request is ended by $way",
    async ({ command, code, messagesMin }) => {
      const left = await probe.ask({ ...command, metadata: newCaller() });
      expect(left.code).toBe(code);
      expect(left.messages.length).toBeGreaterThanOrEqual(messagesMin);
      await expect.poll(() => metrics.print(), patient).toMatch(/^kibitz_slots_busy 0$/m);
      expect(await metrics.print()).toMatch(/^kibitz_queue_length 0$/m);
    },
  );
});
