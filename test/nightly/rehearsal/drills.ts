import { execFileSync } from "node:child_process";
import { renameSync, statSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { newFen } from "../../../bench/soak/mix.ts";
import { descendantsOf } from "../../engine/processes.ts";
import type { Rig } from "./rig.ts";

export interface Drill {
  readonly name: string;
  /** The alerts that must fire. An empty list means that no critical alert is allowed to fire. */
  readonly alerts: readonly string[];
  /** The dashboard panel that must show the fault. `shows` returns true if the values of the panel show the fault. */
  readonly panel: { readonly title: string; shows(values: readonly number[]): boolean };
  /** Matches the log line that must appear. Undefined if the node cannot detect the fault. */
  readonly log: RegExp | undefined;
  /** Causes the fault. The returned function repairs it. */
  begin(rig: Rig): Promise<() => Promise<void> | void>;
}

const some = (test: (value: number) => boolean) => (values: readonly number[]) => values.some(test);
const startFen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

export const drills: readonly Drill[] = [
  {
    name: "the clock jumps",
    alerts: ["KibitzClockWrong"],
    panel: { title: "Error of the clock", shows: some((seconds) => seconds > 3000) },
    log: undefined,
    async begin({ server }) {
      process.kill(server.pid, "SIGUSR2");
      return () => void process.kill(server.pid, "SIGUSR2");
    },
  },
  {
    name: "the disk is full",
    alerts: ["KibitzDegraded"],
    panel: { title: "Degraded parts", shows: some((is) => is === 1) },
    log: /the database cannot be written/,
    async begin({ server, dataDir }) {
      const { size } = statSync(join(dataDir, "kibitz.db-wal"));
      const limit = (bytes: number | "unlimited") =>
        execFileSync("prlimit", ["--pid", String(server.pid), `--fsize=${bytes}:unlimited`]);
      limit(size);
      await ask(server.url, "/v1/keys", {}, newAddress());
      return () => void limit("unlimited");
    },
  },
  {
    name: "engines are killed",
    alerts: ["KibitzEnginesDying"],
    panel: { title: "Engines lost", shows: some((perSecond) => perSecond > 0) },
    log: /"msg":"engine failed"/,
    async begin({ server }) {
      return repeatUntilStopped(async () => {
        for (const pid of descendantsOf(server.pid)) {
          try {
            process.kill(pid, "SIGKILL");
          } catch {
            // The process has already ended.
          }
        }
        await sleep(300);
      });
    },
  },
  {
    name: "one caller sends far too many requests",
    alerts: ["KibitzRefusingMany"],
    panel: { title: "Refusals", shows: some((perSecond) => perSecond > 1) },
    log: /"code":"rate_limited"/,
    async begin({ server }) {
      return repeatUntilStopped(async () => {
        await ask(server.url, "/v1/eval", { fen: startFen, depth: 2 }, "192.0.2.1");
        await sleep(50);
      });
    },
  },
  {
    name: "many callers send requests at the same time",
    alerts: ["KibitzFailingFast", "KibitzWaitingFast"],
    panel: { title: "Calls failed because of the service", shows: some((share) => share > 0.072) },
    log: /"code":"overloaded"/,
    async begin({ server }) {
      const callers = Array.from({ length: 40 }, () =>
        repeatUntilStopped(async () => {
          const answered = await ask(server.url, "/v1/eval", { fen: newFen(), depth: 14 }, newAddress());
          await sleep(answered ? 0 : 250);
        }),
      );
      return async () => void (await Promise.all(callers.map((leave) => leave())));
    },
  },
  {
    name: "clients are slow",
    alerts: [],
    panel: { title: "Requests", shows: some((perSecond) => perSecond > 0) },
    log: /"code":"request_timeout"/,
    async begin({ server }) {
      const sockets = Array.from({ length: 30 }, () => {
        const socket = connect(server.port, "127.0.0.1").on("error", () => {});
        socket.write(
          "POST /v1/eval HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
        );
        return socket;
      });
      return () => sockets.forEach((socket) => void socket.destroy());
    },
  },
  {
    name: "the engine's file is missing",
    alerts: ["KibitzEngineUnavailable"],
    panel: { title: "Engines that can be started", shows: some((is) => is === 0) },
    log: /"msg":"engine is unavailable"/,
    async begin({ server, engineFile }) {
      renameSync(engineFile, `${engineFile}.gone`);
      for (const pid of descendantsOf(server.pid)) {
        process.kill(pid, "SIGKILL");
      }
      return () => renameSync(`${engineFile}.gone`, engineFile);
    },
  },
  {
    name: "the node hangs",
    alerts: ["KibitzNodeDown"],
    panel: { title: "Nodes that answer", shows: some((is) => is === 0) },
    log: undefined,
    async begin({ server }) {
      process.kill(server.pid, "SIGSTOP");
      return () => void process.kill(server.pid, "SIGCONT");
    },
  },
];

export const drillsOfMany: readonly Drill[] = [
  {
    name: "Redis is down",
    alerts: ["KibitzDegraded"],
    panel: { title: "Degraded parts", shows: some((is) => is === 1) },
    log: /degraded: Redis is unreachable/,
    async begin({ redis }) {
      redis?.pause();
      return () => redis?.resume();
    },
  },
];

function repeatUntilStopped(act: () => Promise<void>): () => Promise<void> {
  let goesOn = true;
  const acting = (async () => {
    while (goesOn) {
      await act();
    }
  })();
  return () => {
    goesOn = false;
    return acting;
  };
}

async function ask(url: string, path: string, body: object, address: string): Promise<boolean> {
  try {
    const response = await fetch(url + path, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Forwarded-For": address },
      body: JSON.stringify(body),
    });
    await response.text();
    return response.ok;
  } catch {
    return false;
  }
}

let addresses = 0;
const newAddress = () => `10.${(addresses >> 16) & 255}.${(addresses >> 8) & 255}.${addresses++ & 255}`;
