import { connect, type Socket } from "node:net";
import { expect } from "vitest";
import { ask, patiently } from "./ask.ts";
import { expectUnharmed, watchHealth } from "./health-watch.ts";
import { type StartedService, startFen } from "./started-service.ts";

const openedAtOnce = 20;

/**
 * Opens connections as fast as possible, and does not close them. A health probe is sent after every 20 connections.
 * @returns the HTTP statuses of the probes, and a function that closes the connections
 */
export async function floodWithConnections(
  service: StartedService,
  connections: number,
  addressOf: (count: number) => string,
  bytes: string | Uint8Array,
): Promise<[statuses: Statuses, end: () => void]> {
  const held = new Set<Socket>();
  const statuses: (number | undefined)[] = [];
  for (let opened = 0; opened < connections; opened += openedAtOnce) {
    for (let count = 0; count < openedAtOnce; count++) {
      const localAddress = addressOf(opened + count);
      const socket = connect({ port: service.port, host: "127.0.0.1", localAddress });
      held.add(socket);
      socket.once("connect", () => socket.write(bytes));
      socket.on("error", () => {});
      socket.once("close", () => held.delete(socket));
    }
    const probing = ask(`${service.url}/healthz`, { localAddress: "127.0.0.3" });
    statuses.push((await probing.catch(() => ({ status: undefined }))).status);
  }
  const end = () => {
    for (const socket of held) {
      socket.destroy();
    }
  };
  return [statuses, end];
}

type Statuses = readonly (number | undefined)[];

let callers = 0;
const newCaller = () => `127.1.${++callers >> 8}.${callers & 255}`;

/** Fails unless probes and evaluations of other callers are answered during a flood. A caller honours `Retry-After`. */
export async function expectOthersAnswered(
  service: StartedService,
  flooding: ReturnType<typeof floodWithConnections>,
  bounds: { readonly worstMs?: number; readonly peakBytes?: number } = {},
): Promise<void> {
  const stop = await watchHealth(service);
  let floods = true;
  const ended = flooding.finally(() => {
    floods = false;
  });
  const evaluations: Statuses[number][] = [];
  const evaluate = async () => {
    const localAddress = newCaller();
    const headers = { "Content-Type": "application/json" };
    const body = JSON.stringify({ fen: startFen, depth: 6 });
    const send = () => ask(`${service.url}/v1/eval`, { method: "POST", localAddress, headers, body });
    const { status } = await patiently(send).catch(() => ({ status: undefined }));
    evaluations.push(status);
  };
  while (floods) {
    await evaluate();
  }
  const [probes] = await ended;
  await evaluate();
  const health = await stop();
  expect([...new Set(probes), ...new Set(evaluations)]).toEqual([200, 200]);
  expectUnharmed(health, bounds);
}
