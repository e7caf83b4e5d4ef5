import { request } from "node:http";
import { connect, type Socket } from "node:net";
import { expect } from "vitest";
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
    statuses.push(await statusFrom(service, "127.0.0.3", "/healthz"));
  }
  const end = () => {
    for (const socket of held) {
      socket.destroy();
    }
  };
  return [statuses, end];
}

type Statuses = readonly (number | undefined)[];

/** Resolves with the HTTP status, or with undefined if the connection fails. */
function statusFrom(
  { url }: StartedService,
  localAddress: string,
  path: string,
  body?: object,
): Promise<number | undefined> {
  const method = body === undefined ? "GET" : "POST";
  const options = { method, localAddress, agent: false, headers: { "Content-Type": "application/json" } };
  return new Promise((resolve) => {
    request(url + path, options, (res) => res.resume().on("end", () => resolve(res.statusCode)))
      .on("error", () => resolve(undefined))
      .end(body && JSON.stringify(body));
  });
}

let callers = 0;
const newCaller = () => `127.1.${++callers >> 8}.${callers & 255}`;

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
  while (floods) {
    evaluations.push(await statusFrom(service, newCaller(), "/v1/eval", { fen: startFen, depth: 6 }));
  }
  const [probes] = await ended;
  evaluations.push(await statusFrom(service, newCaller(), "/v1/eval", { fen: startFen, depth: 6 }));
  const health = await stop();
  expect([...new Set(probes), ...new Set(evaluations)]).toEqual([200, 200]);
  expectUnharmed(health, bounds);
}
