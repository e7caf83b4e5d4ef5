import { describe, expect, test } from "vitest";
import { tracingFrom } from "../../src/tracing/settings.ts";

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://localhost:4318" };

/** Returns the tracing settings of this environment, and fails if tracing is disabled. */
function settingsOf(environment: Readonly<Record<string, string>>) {
  const asked = tracingFrom({ ...endpoint, ...environment });
  return asked.kind === "on" ? asked.settings : expect.fail("there are no traces");
}

describe("enabling and disabling tracing", () => {
  test.each<Record<string, string>>([
    endpoint,
    { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "https://collector.example/v1/traces" },
    { OTEL_TRACES_EXPORTER: "otlp" },
    { ...endpoint, OTEL_SDK_DISABLED: "false" },
    { ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf" },
  ])("tracing is enabled by the environment %o", (environment) => {
    expect(tracingFrom(environment)).toMatchObject({ kind: "on", warnings: [] });
  });

  test.each<Record<string, string>>([
    {},
    { OTEL_SERVICE_NAME: "kibitz", OTEL_TRACES_SAMPLER: "always_on" },
    { ...endpoint, OTEL_SDK_DISABLED: "TRUE" },
    { ...endpoint, OTEL_TRACES_EXPORTER: "none" },
    { OTEL_EXPORTER_OTLP_ENDPOINT: "" },
    { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: "http://localhost:4318" },
  ])("tracing is disabled by the environment %o", (environment) => {
    expect(tracingFrom(environment)).toEqual({ kind: "off", warnings: [] });
  });

  test.each<[Record<string, string>, RegExp]>([
    [
      { OTEL_TRACES_EXPORTER: "zipkin" },
      /^no traces: OTEL_TRACES_EXPORTER is "zipkin", but must be otlp or none$/,
    ],
    [{ ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" }, /^no traces: .* http\/protobuf, .* port 4318$/],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: "localhost:4318" }, /^no traces: .* must be the URL of a collector/],
  ])("tracing is disabled if %o names an unknown exporter, and this is logged", (environment, said) => {
    expect(tracingFrom(environment)).toEqual({ kind: "off", warnings: [expect.stringMatching(said)] });
  });
});

describe("the sampler", () => {
  test("the default trace sampler is the default of the OpenTelemetry specification", () => {
    expect(settingsOf({})).toMatchObject({ sampler: "parentbased_always_on", ratio: 1 });
  });

  test("OTEL_TRACES_SAMPLER and OTEL_TRACES_SAMPLER_ARG set the trace sampler and its ratio", () => {
    const settings = { OTEL_TRACES_SAMPLER: "parentbased_traceidratio", OTEL_TRACES_SAMPLER_ARG: "0.01" };
    expect(settingsOf(settings)).toMatchObject({ sampler: "parentbased_traceidratio", ratio: 0.01 });
  });

  test.each<Record<string, string>>([
    { OTEL_TRACES_SAMPLER: "jaeger_remote" },
    { OTEL_TRACES_SAMPLER_ARG: "1.5" },
    { OTEL_TRACES_SAMPLER_ARG: "some" },
    { OTEL_BSP_SCHEDULE_DELAY: "-1" },
  ])("an invalid tracing variable is replaced by its default, and a warning is logged: %o", (environment) => {
    const asked = tracingFrom({ ...endpoint, ...environment });
    expect(asked).toMatchObject({
      kind: "on",
      settings: { sampler: "parentbased_always_on", ratio: 1, scheduledDelayMillis: undefined },
    });
    expect(asked.warnings).toEqual([expect.stringContaining(Object.keys(environment)[0] ?? "")]);
  });
});

test("the timeout for exporting traces is three seconds by default, and a variable can change it", () => {
  expect(settingsOf({}).exportMaxMs).toBe(3000);
  expect(settingsOf({ OTEL_EXPORTER_OTLP_TIMEOUT: "20000" }).exportMaxMs).toBeUndefined();
});

test("the OTEL_BSP_* variables set the sizes of the queue and the batches of spans", () => {
  const settings = { OTEL_BSP_MAX_QUEUE_SIZE: "100", OTEL_BSP_MAX_EXPORT_BATCH_SIZE: "50" };
  expect(settingsOf(settings)).toMatchObject({ maxQueueSize: 100, maxExportBatchSize: 50 });
});
