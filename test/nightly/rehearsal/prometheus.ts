import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { freePort } from "../../support/free-port.ts";
import { shortenRules } from "./shorten-rules.ts";

/** A Prometheus process that reads the metrics of one node, with the shortened alert rules of `deploy/monitoring`. */
export interface Prometheus extends AsyncDisposable {
  /** Returns the current values of a query, one for each time series. */
  ask(query: string): Promise<readonly number[]>;
  firing(): Promise<readonly FiringAlert[]>;
}

interface FiringAlert {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

interface PrometheusOptions {
  readonly folder: string;
  readonly port: number;
  /** All times in the rules are divided by this factor. */
  readonly factor: number;
}

const shipped = fileURLToPath(new URL("../../../deploy/monitoring/", import.meta.url));
const read = (name: string) => readFileSync(join(shipped, name), "utf8");

/** The interval at which Prometheus reads metrics and evaluates rules, in milliseconds. */
const everyMs = 500;
const startMaxMs = 120_000;

export async function startPrometheus({ folder, port, factor }: PrometheusOptions): Promise<Prometheus> {
  writeFileSync(join(folder, "rules.yml"), shortenRules(read("rules.yml"), factor));
  writeFileSync(
    join(folder, "prometheus.yml"),
    read("prometheus.yml").replaceAll("15s", `${everyMs}ms`).replace("localhost:9464", `127.0.0.1:${port}`),
  );
  const own = await freePort();
  const child = spawn(
    "prometheus",
    [
      `--config.file=${join(folder, "prometheus.yml")}`,
      `--storage.tsdb.path=${join(folder, "series")}`,
      `--web.listen-address=127.0.0.1:${own}`,
      "--log.level=warn",
    ],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  const kill = () => void child.kill("SIGKILL");
  process.on("exit", kill);
  const said = text(child.stderr);
  const url = `http://127.0.0.1:${own}`;
  const until = performance.now() + startMaxMs;
  // Prometheus reads the node for the first time some seconds after its start.
  while (!(await isReadingWithoutAlerts(url))) {
    if (child.exitCode !== null || performance.now() > until) {
      kill();
      throw new Error(`Prometheus did not start: ${await said}`);
    }
    await sleep(100);
  }
  return {
    async ask(query) {
      const { result } = await get<{ result: readonly { value: readonly [number, string] }[] }>(
        `${url}/api/v1/query?query=${encodeURIComponent(query)}`,
      );
      return result.map(({ value }) => Number(value[1]));
    },
    async firing() {
      const { alerts } = await get<{ alerts: readonly (FiringAlert & { readonly state: string })[] }>(
        `${url}/api/v1/alerts`,
      );
      return alerts
        .filter(({ state }) => state === "firing")
        .map(({ labels, annotations }) => ({ name: labels.alertname ?? "", labels, annotations }));
    },
    async [Symbol.asyncDispose]() {
      process.off("exit", kill);
      if (child.exitCode === null) {
        child.kill();
        await once(child, "exit");
      }
    },
  };
}

async function isReadingWithoutAlerts(url: string): Promise<boolean> {
  try {
    const { result } = await get<{ result: readonly object[] }>(`${url}/api/v1/query?query=up==1`);
    const { alerts } = await get<{ alerts: readonly object[] }>(`${url}/api/v1/alerts`);
    return result.length > 0 && alerts.length === 0;
  } catch {
    // Prometheus is still starting.
    return false;
  }
}

async function get<T>(url: string): Promise<T> {
  const answer = (await (await fetch(url)).json()) as { data: T; error?: string };
  if (answer.error !== undefined) {
    throw new Error(`${url}: ${answer.error}`);
  }
  return answer.data;
}
