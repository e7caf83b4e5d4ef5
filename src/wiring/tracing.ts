import manifest from "../../package.json" with { type: "json" };
import type { Log } from "../log/log.ts";
import { openTracing } from "../tracing/open-tracing.ts";
import type { TracingSettings } from "../tracing/settings.ts";
import type { Tracing } from "../tracing/tracing.ts";

/** Health and reflection, in every version, and the probes: asked every second, by nobody who would look for a trace. */
const leftOut = /^\/(healthz|readyz|grpc\.(health|reflection)\.[^/]+\/[^/]+)$/;

/** Traces of requests, sent as the standard variables of OpenTelemetry say. */
export function startTracing(settings: TracingSettings, log: Log): Tracing & AsyncDisposable {
  const { sampler, ratio } = settings;
  log.info({}, `traces are kept: ${sampler}${sampler.endsWith("ratio") ? ` of ${ratio}` : ""}`);
  return openTracing({
    settings,
    version: manifest.version,
    log,
    isLeftOut: (path) => leftOut.test(path),
  });
}
