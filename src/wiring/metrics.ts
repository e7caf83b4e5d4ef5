import manifest from "../../package.json" with { type: "json" };
import { type MetricsServer, openMetricsServer } from "../http/metrics-server.ts";
import type { Log } from "../log/log.ts";
import { createMetrics, type Metrics } from "../metrics/metrics.ts";
import { ConfigError } from "./config.ts";
import type { Config } from "./settings.ts";

export const defaultMetricsPort = 9464;

/** True if the service and the metrics would use the same port of the same address. */
export function isPortOfService(
  { host, port, metricsHost }: Pick<Config, "host" | "port" | "metricsHost">,
  metricsPort: number,
): boolean {
  const isEverywhere = [host, metricsHost].some((each) => each === "0.0.0.0" || each === "::");
  return port !== 0 && port === metricsPort && (host === metricsHost || isEverywhere);
}

/** Returns undefined if the default port is in use. Throws ConfigError if a port from the settings cannot be used. */
export async function openMetrics(config: Config, log: Log): Promise<(Metrics & MetricsServer) | undefined> {
  const { metricsHost, metricsPort } = config;
  const metrics = createMetrics(manifest.version);
  const port = metricsPort ?? defaultMetricsPort;
  try {
    if (isPortOfService(config, port)) {
      throw new Error("it is the port of the service, KIBITZ_PORT");
    }
    const server = await openMetricsServer(metrics, { host: metricsHost, port });
    // Do not use the field `url`, because programs read the service's own URL from that field.
    log.info({}, `metrics are at ${server.url}`);
    return { ...metrics, ...server };
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
