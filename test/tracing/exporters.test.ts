import type { ReadableSpan, SpanExporter } from "@opentelemetry/sdk-trace";
import { afterEach, describe, expect, test } from "vitest";
import { silentLog } from "../../src/log/log.ts";
import { openTracing } from "../../src/tracing/open.ts";
import { tracingFrom } from "../../src/tracing/settings.ts";
import { tracer } from "../../src/tracing/spans.ts";
import { patienceMs } from "../support/patience.ts";

const patient = { timeout: patienceMs };

const wanted = tracingFrom({ OTEL_TRACES_EXPORTER: "otlp", OTEL_BSP_SCHEDULE_DELAY: "1" });
const open: AsyncDisposable[] = [];
const endSpan = () => tracer().startSpan("GET /").end();
afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each[Symbol.asyncDispose]()));
});

function tracingWith(exporter: Pick<SpanExporter, "export">, flushMaxMs?: number) {
  const lines: string[] = [];
  const write = (_: object, message: string) => void lines.push(message);
  const tracing = openTracing({
    settings: wanted.kind === "on" ? wanted.settings : expect.fail("there are no traces"),
    version: "1.2.3",
    log: { ...silentLog, info: write, warn: write },
    exporter: { shutdown: async () => {}, ...exporter },
    ...(flushMaxMs !== undefined && { flushMaxMs }),
  });
  open.push(tracing);
  return { lines, tracing };
}

describe("an exporter", () => {
  test("a failing trace exporter is logged once, and its recovery is logged", async () => {
    let fails = true;
    const sent: string[] = [];
    const exporter: Pick<SpanExporter, "export"> = {
      export(spans, done) {
        sent.push(...spans.map(({ name }) => name));
        done(fails ? { code: 1, error: new Error("connect ECONNREFUSED") } : { code: 0 });
      },
    };
    const { lines } = tracingWith(exporter);
    for (const times of [1, 2, 3, 4]) {
      fails = times < 3;
      endSpan();
      await expect.poll(() => sent, patient).toHaveLength(times);
    }
    expect(lines).toEqual([
      "degraded: traces cannot be sent, and are lost until they can",
      "recovered: traces are sent again",
    ]);
  });

  // The SDK would wait 30 s for an exporter.
  test("a trace exporter that never answers does not delay the stop of the server", {
    timeout: 20_000,
  }, async () => {
    let isAsked = false;
    const flushMaxMs = 50;
    const exporter = {
      export() {
        isAsked = true;
      },
    };
    const { tracing } = tracingWith(exporter, flushMaxMs);
    endSpan();
    await tracing[Symbol.asyncDispose]();
    expect(isAsked).toBe(true);
  });

  test("a trace exporter gets the remaining spans when tracing stops", async () => {
    const sent: ReadableSpan[] = [];
    const { tracing } = tracingWith({
      export(spans, done) {
        sent.push(...spans);
        done({ code: 0 });
      },
    });
    endSpan();
    await tracing[Symbol.asyncDispose]();
    expect(sent.map(({ name }) => name)).toEqual(["GET /"]);
    expect(sent[0]?.resource.attributes).toMatchObject({
      "service.name": "kibitz",
      "service.version": "1.2.3",
      "service.instance.id": expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
  });
});
