import { once } from "node:events";
import { existsSync, mkdtempSync, rmdirSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join, resolve } from "node:path";
import { timeoutSignal } from "../../time/time.ts";
import { defaultMetricsPort, isPortOfService } from "../../wiring/metrics.ts";
import type { Config } from "../../wiring/settings.ts";
import { bad, type Finding, good, messageOf, note } from "./finding.ts";

/** A port that a running Kibitz uses is a note: before an upgrade, that Kibitz is the one that is replaced. */
export async function* checkPorts(config: Config): AsyncIterable<Finding> {
  const { host, port, metricsHost, metricsPort } = config;
  yield await portFinding(
    "port",
    host,
    port,
    "Set KIBITZ_PORT to another port, or stop the program that listens there.",
  );
  const advice = "Set KIBITZ_METRICS_PORT to another port, or to 0 for no metrics.";
  const ofMetrics = metricsPort ?? defaultMetricsPort;
  const metrics = isPortOfService(config, ofMetrics)
    ? bad("metrics port", `${metricsHost}:${ofMetrics} is the port of the service, KIBITZ_PORT`, advice)
    : await portFinding("metrics port", metricsHost, ofMetrics, advice);
  // If the default port is taken, the service starts without metrics.
  yield metrics.state === "bad" && metricsPort === undefined ? { ...metrics, state: "note" } : metrics;
}

async function portFinding(part: string, host: string, port: number, advice: string): Promise<Finding> {
  if (port === 0) {
    return good(part, part === "port" ? `${host}, a free one` : "none");
  }
  const server = createServer();
  try {
    await once(server.listen(port, host), "listening");
    return good(part, `${host}:${port} is free`);
  } catch (error) {
    return (await isKibitz(host, port))
      ? note(
          part,
          `Kibitz already answers at ${host}:${port}`,
          "Stop that Kibitz before you start this one, or choose another port.",
        )
      : bad(part, `${host}:${port} cannot be used (${messageOf(error)})`, advice);
  } finally {
    server.close();
  }
}

async function isKibitz(host: string, port: number): Promise<boolean> {
  const reachable = { "0.0.0.0": "127.0.0.1", "::": "::1" }[host] ?? host;
  try {
    const url = `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}/healthz`;
    const answer = await fetch(url, { signal: timeoutSignal(2000) });
    return answer.ok && (await answer.text()).includes('{"status":"ok"');
  } catch {
    return false;
  }
}

export function* checkData({ dataDir }: Config): Iterable<Finding> {
  const folder = resolve(dataDir);
  const existing = nearestFolder(folder);
  try {
    // Create a folder as a test, because permissions do not show that the file system is read-only.
    rmdirSync(mkdtempSync(join(existing, ".kibitz-doctor-")));
    yield good("data folder", `${folder}${existing === folder ? "" : " (will be created)"}`);
  } catch (error) {
    const advice = "Name a folder in KIBITZ_DATA_DIR that Kibitz may write to.";
    yield bad("data folder", `${folder}: ${messageOf(error)}`, advice);
  }
}

function nearestFolder(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : nearestFolder(dirname(folder));
}
