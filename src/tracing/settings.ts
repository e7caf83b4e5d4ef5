/** What of the standard variables of OpenTelemetry is read here; what the exporter sends where, it reads itself. */
export interface TracingSettings {
  readonly sampler: SamplerName;
  /** Of traces that begin here, or of all, as the sampler says: 0 to 1. */
  readonly ratio: number;
  /** Of the spans that wait to be sent, in milliseconds and numbers; the SDK's own where undefined. */
  readonly scheduledDelayMillis: number | undefined;
  readonly maxQueueSize: number | undefined;
  readonly maxExportBatchSize: number | undefined;
  /** How long it is tried to send some, in milliseconds; undefined where the exporter's own setting says so. */
  readonly exportMaxMs: number | undefined;
}

/** What the variables ask for. `warnings` are for the log: by the specification none of them ends a start. */
type TracingAsked =
  | { readonly kind: "off"; readonly warnings: readonly string[] }
  | { readonly kind: "on"; readonly settings: TracingSettings; readonly warnings: readonly string[] };

type Environment = Readonly<Record<string, string | undefined>>;

const samplers = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;

export type SamplerName = (typeof samplers)[number];

/** Less than the exporter's default of ten seconds: a stop waits for the last spans so long. */
const exportMaxMs = 3000;

/**
 * Traces are on where an exporter or an address to export to is named, and OTEL_SDK_DISABLED does not say otherwise. By
 * the specification they would always be: but a service that nobody has told of a collector has none.
 */
export function tracingAsked(environment: Environment): TracingAsked {
  const warnings: string[] = [];
  // By the specification an empty variable is one that is not set.
  const read = (name: string) => environment[name]?.trim() || undefined;
  const exporter = read("OTEL_TRACES_EXPORTER")?.toLowerCase();
  const address = read("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") ?? read("OTEL_EXPORTER_OTLP_ENDPOINT");
  const off = { kind: "off", warnings } as const;
  if (read("OTEL_SDK_DISABLED")?.toLowerCase() === "true" || exporter === "none") {
    return off;
  }
  if (exporter === undefined ? address === undefined : exporter !== "otlp") {
    if (exporter !== undefined) {
      warnings.push("no traces: of the exporters that OTEL_TRACES_EXPORTER may name there are otlp and none");
    }
    return off;
  }
  if (address !== undefined && !/^https?:$/.test(URL.parse(address)?.protocol ?? "")) {
    warnings.push("no traces: OTEL_EXPORTER_OTLP_ENDPOINT must be the URL of a collector, http://host:4318");
    return off;
  }
  const protocol = read("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL") ?? read("OTEL_EXPORTER_OTLP_PROTOCOL");
  if (protocol !== undefined && protocol !== "http/protobuf") {
    warnings.push(
      "no traces: OTEL_EXPORTER_OTLP_PROTOCOL must be http/protobuf, which collectors take at port 4318",
    );
    return off;
  }
  const number = (name: string, isSane: (value: number) => boolean): number | undefined => {
    const text = read(name);
    if (text === undefined || isSane(Number(text))) {
      return text === undefined ? undefined : Number(text);
    }
    warnings.push(`${name} is no number that can be used: the default is`);
    return undefined;
  };
  const isCount = (value: number) => Number.isSafeInteger(value) && value > 0;
  const named = read("OTEL_TRACES_SAMPLER")?.toLowerCase();
  const sampler = samplers.find((one) => one === named);
  if (named !== undefined && sampler === undefined) {
    warnings.push(`OTEL_TRACES_SAMPLER is none of ${samplers.join(", ")}: parentbased_always_on is used`);
  }
  const hasTimeout = ["OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT"].some(
    (name) => read(name) !== undefined,
  );
  const settings: TracingSettings = {
    sampler: sampler ?? "parentbased_always_on",
    ratio: number("OTEL_TRACES_SAMPLER_ARG", (value) => value >= 0 && value <= 1) ?? 1,
    scheduledDelayMillis: number("OTEL_BSP_SCHEDULE_DELAY", isCount),
    maxQueueSize: number("OTEL_BSP_MAX_QUEUE_SIZE", isCount),
    maxExportBatchSize: number("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", isCount),
    exportMaxMs: hasTimeout ? undefined : exportMaxMs,
  };
  return { kind: "on", settings, warnings };
}
