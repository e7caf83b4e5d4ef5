import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { descriptorsOf } from "../../abuse/processes-of.ts";
import { descendantsOf } from "../../engine/processes.ts";
import { freePort } from "../../support/free-port.ts";
import { rateOf } from "../../support/plans-file.ts";
import { quickestSettings } from "../../support/quickest-settings.ts";
import { startServer } from "../../support/start-server.ts";
import type { Progress } from "./fail-steps.ts";

/** A server whose steps can fail. See `fail-steps.ts`. */
export interface FailingServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** The lines of errors that nothing caught. */
  readonly unhandled: string[];
  isRunning(): boolean;
  /** Fails the n-th step from now on; 0: none. Resolves with what the steps did since the last call. */
  arm(step: number): Promise<Progress>;
  progress(): Promise<Progress>;
  /** The resources of a request: descriptors, sockets, slots, and the searches that wait or run. */
  gauges(): Promise<Gauges>;
}

export type Gauges = Readonly<Record<string, number>>;

/** One place at a time: if a request keeps its place, the next request is refused. */
const onePlace = {
  depth_max: 30,
  multipv_max: 10,
  movetime_ms_max: 60_000,
  concurrent: 1,
  rates: [rateOf("minute", 10_000_000, 60)],
};

/** The calls and connections of the client at a time: one for the request, and one that is just being closed. */
const connections = 2;

const descriptorsOfEngine = 3;

export async function startFailingServer(): Promise<FailingServer> {
  const folder = mkdtempSync(join(tmpdir(), "kibitz-steps-"));
  const plans = join(folder, "plans.json");
  writeFileSync(
    plans,
    JSON.stringify({ plans: ["keyless", "free"].map((id) => ({ id, limits: onePlace })) }),
  );
  const socketPath = join(folder, "steps");
  const metricsPort = await freePort();
  const unhandled: string[] = [];
  const { url, port, pid, isRunning, stop } = await startServer(
    {
      ...quickestSettings,
      KIBITZ_ACCESS: "public",
      KIBITZ_KEYS_PER_DAY: "1000000",
      KIBITZ_CACHE_MB: "0",
      KIBITZ_SLOTS: "1",
      KIBITZ_PLANS: plans,
      KIBITZ_CONNECTIONS_PER_ADDRESS: String(connections),
      KIBITZ_METRICS_PORT: String(metricsPort),
      KIBITZ_DATA_DIR: folder,
      FAILING_STEPS: socketPath,
      NODE_OPTIONS: `--import=${new URL("fail-steps.ts", import.meta.url).href}`,
    },
    { onUnhandled: (line) => void unhandled.push(line) },
  );
  const control = connect(socketPath);
  await once(control, "connect");
  const lines = createInterface(control)[Symbol.asyncIterator]();
  const send = async (command: object): Promise<Progress> => {
    control.write(`${JSON.stringify(command)}\n`);
    return JSON.parse(String((await lines.next()).value));
  };
  return {
    url,
    port,
    unhandled,
    isRunning,
    arm: (armed) => send({ armed }),
    progress: () => send({}),
    async gauges() {
      const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
      const of = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
      const open = descriptorsOf(pid);
      return {
        slotsBusy: of("kibitz_slots_busy"),
        queueLength: of("kibitz_queue_length"),
        engines: descendantsOf(pid).length,
        sockets: open.filter((what) => what.startsWith("socket:")).length,
        descriptors: open.length - descriptorsOfEngine * descendantsOf(pid).length,
      };
    },
    async [Symbol.asyncDispose]() {
      control.destroy();
      const code = await stop();
      rmSync(folder, { recursive: true, force: true });
      if (code !== 0) {
        throw new Error(`the server ended with ${code}`);
      }
    },
  };
}

/** The longest time in which everything of an ended request must be gone. Node discards an unread body for a second. */
const settleMaxMs = 10_000;

/** Resolves when the gauges are as `before`, or with the difference after a long time. */
export async function settledGauges(server: Pick<FailingServer, "gauges">, before: Gauges): Promise<Gauges> {
  const endsAt = performance.now() + settleMaxMs;
  for (;;) {
    const now = await server.gauges();
    const isSettled = Object.entries(before).every(([name, value]) => (now[name] ?? 0) <= value);
    if (isSettled || performance.now() > endsAt) {
      return now;
    }
    await sleep(5);
  }
}
