import manifest from "../../package.json" with { type: "json" };
import { openMetricsServer } from "../http/metrics-server.ts";
import type { Log } from "../log/log.ts";
import { createMetrics, type Metrics } from "../metrics/metrics.ts";
import { ConfigError } from "./config.ts";
import type { Config } from "./settings.ts";

/** Where they are by default: the port that OpenTelemetry's exporters for Prometheus have. */
export const defaultMetricsPort = 9464;

/** Whether a port of metrics is one that the service itself is to listen on. */
export function isPortOfService(
  { host, port, metricsHost }: Pick<Config, "host" | "port" | "metricsHost">,
  metricsPort: number,
): boolean {
  const isEverywhere = [host, metricsHost].some((each) => each === "0.0.0.0" || each === "::");
  return port !== 0 && port === metricsPort && (host === metricsHost || isEverywhere);
}

/**
 * Metrics with a port of their own, as the settings say. Where the default port is taken there are none, and the log says so:
 * who starts a second server on a machine has not asked for any.
 *
 * @throws ConfigError where it cannot listen on a port that was named
 */
export async function openMetrics(
  config: Config,
  log: Log,
): Promise<(Metrics & AsyncDisposable) | undefined> {
  const { metricsHost, metricsPort } = config;
  const metrics = createMetrics(manifest.version);
  const port = metricsPort ?? defaultMetricsPort;
  try {
    if (isPortOfService(config, port)) {
      throw new Error("it is the port of the service, KIBITZ_PORT");
    }
    const server = await openMetricsServer(metrics, { host: metricsHost, port });
    // Not as a field: whoever reads the log for `url` looks for the service.
    log.info({}, `metrics are at ${server.url}`);
    return { ...metrics, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
  } catch (thrown) {
    const { message } = thrown as NodeJS.ErrnoException;
    if (metricsPort !== undefined) {
      throw new ConfigError(
        `KIBITZ_METRICS_HOST and KIBITZ_METRICS_PORT: cannot listen on ${metricsHost}:${port} (${message}). KIBITZ_METRICS_PORT=0 turns metrics off.`,
      );
    }
    log.warn(
      { error: message },
      `no metrics: port ${port} cannot be used; KIBITZ_METRICS_PORT names another one, and 0 turns them off`,
    );
    return undefined;
  }
}
