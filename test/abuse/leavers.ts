import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { ask, patiently } from "./ask.ts";
import type { StartedService } from "./started-service.ts";

export interface Leaving {
  readonly port: number;
  /** The complete request, as it is sent over HTTP/1.1. */
  readonly request: string;
  /** The number of clients. Each client has at most one connection at a time. */
  readonly connections: number;
  /** Milliseconds from the request to the end of its connection. */
  readonly leaveMs: number;
  readonly forMs: number;
  readonly localAddress: string;
  readonly leave?: "close" | "reset";
}

/** Sends a request, disconnects without reading the response, and repeats this. Resolves with the number of requests. */
export async function sendAndLeave({
  port,
  request,
  connections,
  leaveMs,
  forMs,
  localAddress,
  leave = "close",
}: Leaving): Promise<number> {
  const endsAt = performance.now() + forMs;
  let sent = 0;
  const leaveBy = (socket: Socket) => (leave === "reset" ? socket.resetAndDestroy() : socket.destroy());
  const one = async () => {
    while (performance.now() < endsAt) {
      const socket = connect({ port, host: "127.0.0.1", localAddress, noDelay: true });
      socket.on("error", () => {});
      // `once` would reject if the service resets the connection.
      const closed = new Promise((resolve) => socket.once("close", resolve));
      socket.write(request);
      await Promise.race([once(socket, "connect").catch(() => {}), closed]);
      sent++;
      await sleep(leaveMs);
      leaveBy(socket);
      await closed;
    }
  };
  await Promise.all(Array.from({ length: connections }, one));
  return sent;
}

export interface Served {
  /** The statuses of all responses, with their number. The status 0 means that there was no response. */
  readonly statuses: Readonly<Record<number, number>>;
  readonly medianMs: number;
  readonly worstMs: number;
}

const everyMs = 100;
/** The time limit of an answer, including the time in `Retry-After` if the service is too busy. */
const answerMaxMs = 10_000;

/** Until the returned function is called, asks for short searches and for a game of 100 plies, each time from another address. */
export function askAsOthers({ url }: Pick<StartedService, "url">, body: object): () => Promise<Served> {
  let isStopped = false;
  const statuses: Record<number, number> = {};
  const times: number[] = [];
  const asking = (async () => {
    for (let caller = 1; !isStopped; caller++) {
      const startedAt = performance.now();
      const request = {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
        localAddress: `127.0.77.${(caller % 250) + 1}`,
        signal: AbortSignal.timeout(answerMaxMs),
      };
      const { status } = await patiently(() => ask(`${url}/v1/eval`, request)).catch(() => ({ status: 0 }));
      times.push(performance.now() - startedAt);
      statuses[status] = (statuses[status] ?? 0) + 1;
      await sleep(everyMs);
    }
  })();
  return async () => {
    isStopped = true;
    await asking;
    times.sort((a, b) => a - b);
    return {
      statuses,
      medianMs: Math.round(times[Math.floor(times.length / 2)] ?? 0),
      worstMs: Math.round(times.at(-1) ?? 0),
    };
  };
}
