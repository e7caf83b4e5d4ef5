/**
 * A child process that sends health probes to a service until the parent process sends `stop`. Then the child process reports
 * the response times.
 */
import { existsSync } from "node:fs";
import { Agent, get } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { startStopwatch } from "../support/stopwatch.ts";

export interface Watched {
  readonly url: string;
  readonly pid: number;
  readonly probesMin: number;
}

const everyMs = 10;
/** No attack uses the address of the prober. */
const localAddress = "127.0.98.1";

/** Every tenth probe opens a new connection. All other probes reuse one connection, as most load balancers do. */
const newConnectionEvery = 10;

/**
 * Milliseconds between two probes after the message `stop`. The child process still sends probes until their minimum number is
 * reached.
 */
const everyMsAtEnd = 3;

// Exit if the parent process ends.
process.once("disconnect", () => process.exit());
process.on("message", (message: Watched | "stop") => {
  if (message !== "stop") {
    void watch(message);
  }
});

function probe(url: string, agent: Agent | false): Promise<boolean> {
  return new Promise((resolve) => {
    get(url, { agent, localAddress }, (res) =>
      res.resume().on("end", () => resolve(res.statusCode === 200)),
    ).on("error", () => resolve(false));
  });
}

/** Returns the response time in milliseconds. Returns undefined if the probe fails, or if the service has ended. */
async function probeMs(pid: number, url: string, agent: Agent | false): Promise<number | undefined> {
  try {
    const stopwatch = startStopwatch(process.pid, pid);
    return (await probe(url, agent)) ? stopwatch() : undefined;
  } catch (error) {
    if (existsSync(`/proc/${pid}`)) {
      throw error;
    }
    return undefined;
  }
}

async function watch({ url, pid, probesMin }: Watched): Promise<void> {
  const healthz = `${url}/healthz`;
  const kept = new Agent({ keepAlive: true, localAddress });
  const times: number[] = [];
  let failed = 0;
  let stopped = false;
  await probe(healthz, kept);
  process.once("message", () => {
    stopped = true;
  });
  process.send?.("ready");
  for (let count = 0; count < probesMin || !stopped; count++) {
    const ms = await probeMs(pid, healthz, count % newConnectionEvery === 0 ? false : kept);
    if (ms === undefined) {
      failed++;
    } else {
      times.push(ms);
    }
    await sleep(stopped ? everyMsAtEnd : everyMs);
  }
  kept.destroy();
  process.send?.({ times, failed });
}
