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

/** Whether the ports can be had. What answers there already may be the service itself. */
export async function* lookAtPorts(config: Config): AsyncIterable<Finding> {
  const { host, port, metricsHost, metricsPort } = config;
  const other = "Name another one in KIBITZ_PORT, or stop what listens there.";
  yield await portFinding("port", host, port, other);
  const named = metricsPort !== undefined;
  const wanted = metricsPort ?? defaultMetricsPort;
  const wayOut = "Name another one in KIBITZ_METRICS_PORT, or 0 for no metrics.";
  const metrics = isPortOfService(config, wanted)
    ? bad("metrics port", `${metricsHost}:${wanted} is the port of the service itself`, wayOut)
    : await portFinding("metrics port", metricsHost, wanted, wayOut);
  // A default that is taken costs the metrics and not the start.
  yield metrics.state === "bad" && !named ? { ...metrics, state: "note" } : metrics;
}

async function portFinding(part: string, host: string, port: number, advice: string): Promise<Finding> {
  const place = `${host}:${port}`;
  if (port === 0) {
    return good(part, part === "port" ? `${host}, a free one` : "none");
  }
  const refused = await refusalToListen(host, port);
  if (refused === undefined) {
    return good(part, `${place} is free`);
  }
  const [path, said] = part === "port" ? ["/healthz", '{"status":"ok"'] : ["/metrics", "# HELP kibitz_"];
  if (refused.code === "EADDRINUSE" && (await textAt(host, port, path)).includes(said)) {
    return good(part, `a Kibitz answers at ${place} already`);
  }
  return bad(part, `${place} cannot be listened on (${refused.message})`, advice);
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

const answerMaxMs = 2000;

/** What is answered there; empty if nobody answers, or not with success. */
async function textAt(host: string, port: number, path: string): Promise<string> {
  const reachable =
    { "0.0.0.0": "127.0.0.1", "::": "[::1]" }[host] ?? (host.includes(":") ? `[${host}]` : host);
  try {
    const answer = await fetch(`http://${reachable}:${port}${path}`, {
      signal: AbortSignal.timeout(answerMaxMs),
    });
    return answer.ok ? await answer.text() : "";
  } catch {
    return "";
  }
}

/** Room that a day of logs and stored answers may take, in bytes, beside what is asked for answers. */
const roomBytes = 100e6;

/** Whether what must survive a restart will. */
export function* lookAtData(config: Config): Iterable<Finding> {
  const { dataDir, storeMb } = config;
  const folder = resolve(dataDir);
  const there = nearestFolder(folder);
  try {
    // What is allowed is not always what can be done: a file system may be read-only, or none that keeps folders.
    rmdirSync(mkdtempSync(join(there, ".kibitz-doctor-")));
  } catch (error) {
    yield bad(
      "data folder",
      `${folder}: ${messageOf(error)}`,
      "Name a folder in KIBITZ_DATA_DIR that Kibitz may write to.",
    );
    return;
  }
  const { bavail, bsize } = statfsSync(there);
  const freeBytes = bavail * bsize;
  const free = `${folder}${there === folder ? "" : " (will be made)"}, ${(freeBytes / 1e9).toFixed(1)} GB free`;
  yield freeBytes < storeMb * 1e6 + roomBytes
    ? note(
        "data folder",
        free,
        `Stored answers may take ${storeMb} MB (KIBITZ_STORE_MB): free the disk, or allow them less.`,
      )
    : good("data folder", free);
  try {
    const found = inspectDatabase(folder);
    const wrong = found?.pepperCheck === undefined ? undefined : whyWrongPepper(found.pepperCheck, config);
    const text = found === undefined ? "none yet" : `version ${found.version}, keys: ${found.keys}`;
    yield wrong ? bad("database", wrong.found, wrong.advice) : good("database", text);
  } catch (error) {
    if (!(error instanceof StoreUnusable)) {
      throw error;
    }
    yield bad(
      "database",
      error.message,
      "Restore kibitz.db from a backup, or use the version of Kibitz that wrote it.",
    );
  }
}

function nearestFolder(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : nearestFolder(dirname(folder));
}

export function* lookAtPlans(config: Config): Iterable<Finding> {
  try {
    const plans = loadPlans(config);
    yield good(
      "plans",
      `${plans.map(({ id }) => id).join(", ")}${config.plansFile ? ` (${config.plansFile})` : ""}`,
    );
  } catch (error) {
    if (!(error instanceof ConfigError)) {
      throw error;
    }
    yield bad("plans", error.message, "Mend the file, or unset KIBITZ_PLANS for the built-in plans.");
  }
}
