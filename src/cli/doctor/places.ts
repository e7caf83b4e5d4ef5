import { once } from "node:events";
import { existsSync, mkdtempSync, rmdirSync, statfsSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join, resolve } from "node:path";
import { inspectDatabase, StoreUnusable } from "../../storage/sqlite/database.ts";
import { whyWrongPepper } from "../../wiring/access.ts";
import { ConfigError } from "../../wiring/config.ts";
import { defaultMetricsPort, isPortOfService } from "../../wiring/metrics.ts";
import { loadPlans } from "../../wiring/plans.ts";
import type { Config } from "../../wiring/settings.ts";
import { bad, type Finding, good, messageOf, note } from "./finding.ts";

/** Checks that the ports are free, or taken by a Kibitz that runs already. */
export async function* checkPorts(config: Config): AsyncIterable<Finding> {
  const { host, port, metricsHost, metricsPort = defaultMetricsPort } = config;
  yield await portFinding(
    { part: "port", host, port, path: "/healthz", answer: '{"status":"ok"' },
    "Name another one in KIBITZ_PORT, or stop what listens there.",
  );
  const advice = "Name another one in KIBITZ_METRICS_PORT, or 0 for no metrics.";
  const part = "metrics port";
  const metrics = isPortOfService(config, metricsPort)
    ? bad(part, `${metricsHost}:${metricsPort} is the port of the service itself`, advice)
    : await portFinding(
        { part, host: metricsHost, port: metricsPort, path: "/metrics", answer: "# HELP kibitz_" },
        advice,
      );
  // If the default port is taken, the service starts without metrics.
  yield metrics.state === "bad" && config.metricsPort === undefined ? { ...metrics, state: "note" } : metrics;
}

interface CheckedPort {
  readonly part: string;
  readonly host: string;
  readonly port: number;
  /** A running Kibitz answers this path with a text that contains `answer`. */
  readonly path: string;
  readonly answer: string;
}

async function portFinding(
  { part, host, port, path, answer }: CheckedPort,
  advice: string,
): Promise<Finding> {
  const place = `${host}:${port}`;
  if (port === 0) {
    return good(part, part === "port" ? `${host}, a free one` : "none");
  }
  const refused = await refusalToListen(host, port);
  if (refused === undefined) {
    return good(part, `${place} is free`);
  }
  return refused.code === "EADDRINUSE" && (await textAt(host, port, path)).includes(answer)
    ? good(part, `a Kibitz answers at ${place} already`)
    : bad(part, `${place} cannot be listened on (${refused.message})`, advice);
}

async function refusalToListen(host: string, port: number): Promise<NodeJS.ErrnoException | undefined> {
  const server = createServer();
  try {
    server.listen(port, host);
    await once(server, "listening");
    return undefined;
  } catch (error) {
    return error as NodeJS.ErrnoException;
  } finally {
    server.close();
  }
}

/** The text of a successful answer; else empty. */
async function textAt(host: string, port: number, path: string): Promise<string> {
  const reachable =
    { "0.0.0.0": "127.0.0.1", "::": "[::1]" }[host] ?? (host.includes(":") ? `[${host}]` : host);
  try {
    const answer = await fetch(`http://${reachable}:${port}${path}`, { signal: AbortSignal.timeout(2000) });
    return answer.ok ? await answer.text() : "";
  } catch {
    return "";
  }
}

/** Space for the database and a day of logs, in bytes, besides stored answers. */
const roomBytes = 100e6;

/** Checks that the data folder can be written to, and that its database can be used. */
export function* checkData(config: Config): Iterable<Finding> {
  const { dataDir, storeMb } = config;
  const folder = resolve(dataDir);
  const existing = nearestFolder(folder);
  try {
    // Rights alone do not say whether a folder can be made: the file system may be read-only.
    rmdirSync(mkdtempSync(join(existing, ".kibitz-doctor-")));
  } catch (error) {
    const found = `${folder}: ${messageOf(error)}`;
    yield bad("data folder", found, "Name a folder in KIBITZ_DATA_DIR that Kibitz may write to.");
    return;
  }
  const { bavail, bsize } = statfsSync(existing);
  const freeBytes = bavail * bsize;
  const found = `${folder}${existing === folder ? "" : " (will be made)"}, ${(freeBytes / 1e9).toFixed(1)} GB free`;
  const advice = `Stored answers may take ${storeMb} MB (KIBITZ_STORE_MB): free the disk, or allow them less.`;
  yield freeBytes < storeMb * 1e6 + roomBytes
    ? note("data folder", found, advice)
    : good("data folder", found);
  yield databaseFinding(folder, config);
}

function databaseFinding(folder: string, config: Config): Finding {
  const part = "database";
  try {
    const found = inspectDatabase(folder);
    const wrong = found?.pepperCheck === undefined ? undefined : whyWrongPepper(found.pepperCheck, config);
    const text = found === undefined ? "none yet" : `version ${found.version}, keys: ${found.keys}`;
    return wrong ? bad(part, wrong.found, wrong.advice) : good(part, text);
  } catch (error) {
    if (!(error instanceof StoreUnusable)) {
      throw error;
    }
    const advice = "Restore kibitz.db from a backup, or use the version of Kibitz that wrote it.";
    return bad(part, error.message, advice);
  }
}

function nearestFolder(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : nearestFolder(dirname(folder));
}

export function* checkPlans(config: Config): Iterable<Finding> {
  try {
    const ids = loadPlans(config).map(({ id }) => id);
    yield good("plans", `${ids.join(", ")}${config.plansFile ? ` (${config.plansFile})` : ""}`);
  } catch (error) {
    if (!(error instanceof ConfigError)) {
      throw error;
    }
    yield bad("plans", error.message, "Correct the file, or unset KIBITZ_PLANS for the built-in plans.");
  }
}
