/** The OTEL_* variables that Kibitz reads. The exporter reads further variables, such as headers and compression. */
export interface TracingSettings {
  readonly sampler: SamplerName;
  /** The fraction of traces that the sampler `traceidratio` records, between 0 and 1. */
  readonly ratio: number;
  /** The interval between exports in milliseconds. If undefined, the SDK uses its default. */
  readonly scheduledDelayMillis: number | undefined;
  readonly maxQueueSize: number | undefined;
  readonly maxExportBatchSize: number | undefined;
  /** The timeout of one export in milliseconds. If undefined, the exporter reads the timeout from the environment. */
  readonly exportMaxMs: number | undefined;
}

/** An invalid variable only causes a warning: by OpenTelemetry's specification, it must not stop the program from starting. */
type WantedTracing =
  | { readonly kind: "off"; readonly warnings: readonly string[] }
  | { readonly kind: "on"; readonly settings: TracingSettings; readonly warnings: readonly string[] };

const samplers = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;

type SamplerName = (typeof samplers)[number];

/** Shorter than the exporter's default of ten seconds, because the server waits for the last export when it stops. */
const exportMaxMs = 3000;

/** Tracing is on if the environment names an exporter or the URL of a collector, and OTEL_SDK_DISABLED is not `true`. */
export function tracingFrom(environment: Readonly<Record<string, string | undefined>>): WantedTracing {
  // Treat an empty variable as unset, as the specification requires.
  const read = (...names: readonly string[]) =>
    names.map((name) => environment[name]?.trim()).find(Boolean) || undefined;
  const exporter = read("OTEL_TRACES_EXPORTER")?.toLowerCase();
  const address = read("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT");
  const protocol = read("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL");
  const off = (...warnings: readonly string[]) => ({ kind: "off", warnings }) as const;
  if (read("OTEL_SDK_DISABLED")?.toLowerCase() === "true" || exporter === "none") {
    return off();
  }
  if (exporter !== undefined && exporter !== "otlp") {
    return off(`no traces: OTEL_TRACES_EXPORTER is "${exporter}", but must be otlp or none`);
  }
  if (exporter === undefined && address === undefined) {
    return off();
  }
  if (address !== undefined && !/^https?:$/.test(URL.parse(address)?.protocol ?? "")) {
    return off("no traces: OTEL_EXPORTER_OTLP_ENDPOINT must be the URL of a collector, http://host:4318");
  }
  if (protocol !== undefined && protocol !== "http/protobuf") {
    return off(
      "no traces: OTEL_EXPORTER_OTLP_PROTOCOL must be http/protobuf, which collectors take at port 4318",
    );
  }
  const warnings: string[] = [];
  const number = (name: string, isValid: (value: number) => boolean): number | undefined => {
    const text = read(name);
    if (text !== undefined && !isValid(Number(text))) {
      warnings.push(`${name} is not a valid number: its default is used`);
      return undefined;
    }
    return text === undefined ? undefined : Number(text);
  };
  const isCount = (value: number) => Number.isSafeInteger(value) && value > 0;
  const named = read("OTEL_TRACES_SAMPLER")?.toLowerCase();
  const sampler = samplers.find((name) => name === named);
  if (named !== undefined && sampler === undefined) {
    warnings.push(`OTEL_TRACES_SAMPLER is none of ${samplers.join(", ")}: parentbased_always_on is used`);
  }
  const timeout = read("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT");
  const settings: TracingSettings = {
    sampler: sampler ?? "parentbased_always_on",
    ratio: number("OTEL_TRACES_SAMPLER_ARG", (value) => value >= 0 && value <= 1) ?? 1,
    scheduledDelayMillis: number("OTEL_BSP_SCHEDULE_DELAY", isCount),
    maxQueueSize: number("OTEL_BSP_MAX_QUEUE_SIZE", isCount),
    maxExportBatchSize: number("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", isCount),
    exportMaxMs: timeout === undefined ? exportMaxMs : undefined,
  };
  return { kind: "on", settings, warnings };
}
