import manifest from "../../package.json" with { type: "json" };
import type { Log } from "../log/log.ts";
import { routesFromServices } from "../protocols/json/routes.ts";
import { mcpPath } from "../request/context.ts";
import { apiServices } from "../services/routes.ts";
import { openTracing } from "../tracing/open-tracing.ts";
import type { Paths } from "../tracing/requests.ts";
import type { TracingSettings } from "../tracing/settings.ts";
import type { Tracing } from "../tracing/tracing.ts";

/** Health and reflection, in every version, and the probes: asked every second, by nobody who would look for a trace. */
const leftOut = /^\/(healthz|readyz|grpc\.(health|reflection)\.[^/]+\/[^/]+)$/;

const calls: ReadonlySet<string> = new Set([
  mcpPath,
  ...routesFromServices(apiServices).map(({ path }) => path),
  ...apiServices.flatMap(({ typeName, methods }) => methods.map(({ name }) => `/${typeName}/${name}`)),
]);

export const tracedPaths: Paths = {
  isCall: (path) => calls.has(path),
  isLeftOut: (path) => leftOut.test(path),
};

/** Traces of requests, sent as the standard variables of OpenTelemetry say. */
export function startTracing(settings: TracingSettings, log: Log): Tracing & AsyncDisposable {
  const { sampler, ratio } = settings;
  log.info({}, `traces are kept: ${sampler}${sampler.endsWith("ratio") ? ` of ${ratio}` : ""}`);
  return openTracing({ settings, version: manifest.version, log, paths: tracedPaths });
}
