import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { rowsWith } from "../support/needs.ts";
import type { Program } from "./language.ts";
import { languages } from "./languages/index.ts";
import { useServiceOfOneEngine, waysToLeave } from "./leaving.ts";
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
