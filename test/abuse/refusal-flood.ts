/**
 * The worker thread of `floodWithRefusals`. It sends invalid requests until it receives a message. Then it reports the
 * responses.
 */
import { Agent, request } from "node:http";
import { parentPort, workerData } from "node:worker_threads";

interface Settings {
  readonly url: string;
  readonly connections: number;
  readonly path: string;
  readonly bodies: readonly string[];
  readonly headers: readonly Readonly<Record<string, string>>[];
  readonly localAddress: string;
}

const { url, connections, path, bodies, headers, localAddress } = workerData as Settings;
const agent = new Agent({ keepAlive: true, maxSockets: connections });
const statuses = new Map<number, number>();
let withRetryAfter = 0;
let retryAfterS: number | undefined;
let stopped = false;

function send(body: string, more: Readonly<Record<string, string>>): Promise<void> {
  return new Promise((resolve) => {
    const call = request(
      url + path,
      { method: "POST", agent, localAddress, headers: { "Content-Type": "application/json", ...more } },
      (res) => {
        const status = res.statusCode ?? 0;
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        if (res.headers["retry-after"] !== undefined) {
          withRetryAfter++;
          retryAfterS = Number(res.headers["retry-after"]);
        }
        res.resume().on("end", resolve);
      },
    );
    call.on("error", () => resolve());
    call.end(body);
  });
}

async function flood(connection: number): Promise<void> {
  for (let sent = connection; !stopped; sent++) {
    await send(bodies[sent % bodies.length] ?? "", headers[sent % headers.length] ?? {});
  }
}

parentPort?.once("message", () => {
  stopped = true;
});
const floods = Array.from({ length: connections }, (_, connection) => flood(connection));
parentPort?.postMessage("ready");
await Promise.all(floods);
agent.destroy();
parentPort?.postMessage({ statuses, withRetryAfter, retryAfterS });
