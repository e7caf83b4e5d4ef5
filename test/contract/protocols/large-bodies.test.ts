import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { envelope } from "../../support/envelope.ts";
import { patienceMs } from "../../support/patience.ts";
import { open, problemOf } from "../../support/raw-http.ts";
import { useApp } from "../../support/running-app.ts";
import { callGrpc } from "./call-grpc.ts";
import { startFen } from "./cases/case.ts";
import { post } from "./post.ts";

// On a busy machine, the bodies of a test may take longer than the 15 s after which the server closes unfinished requests.
const listenerLimits = { requestTimeoutMs: 600_000 };
const app = useApp({}, { engines: createEnginesInProcess(), listenerLimits });

/** The memory limit for unfinished bodies in bytes. The limit does not include the first 16 KiB of each body. */
const budgetBytes = 8 * 1024 * 1024;
const freeBytes = 16 * 1024;

/** A batch of nearly 1 MiB, the greatest allowed size. */
const large = `{"requests": [{"fen": "${startFen}", "depth": 1}]}${" ".repeat(900_000)}`;

const statusOfLarge = async () => (await post(`${app.url}/v1/eval/batch`, large)).status;
const patience = { timeout: patienceMs };

const port = () => Number(new URL(app.url).port);
const sockets: Socket[] = [];
const clientPorts: number[] = [];

/** The server frees the memory of a body when it closes the connection. */
afterEach(async () => {
  const ports = new Set(clientPorts.splice(0));
  for (const socket of sockets.splice(0)) {
    socket.destroy();
  }
  const held = () =>
    connectionsOfServer().filter(({ clientPort, state }) => ports.has(clientPort) && heldStates.has(state));
  await expect.poll(held, { ...patience, interval: 5 }).toEqual([]);
});

/** The states ESTABLISHED and CLOSE_WAIT. In all other states, the server has closed its socket. */
const heldStates: ReadonlySet<string> = new Set(["01", "08"]);

/** Linux lists all sockets in `/proc/net/tcp`. */
function connectionsOfServer() {
  const ofServer = `:${port().toString(16).toUpperCase().padStart(4, "0")}`;
  return readFileSync("/proc/net/tcp", "latin1")
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local = "", remote = ""]) => local.endsWith(ofServer) || remote.endsWith(ofServer))
    .map(([, , remote = "", state = "", queues = ""]) => ({
      clientPort: Number.parseInt(remote.slice(-4), 16),
      state,
      queues,
    }));
}

/** Counts the sockets with unread bytes in the kernel. In the state LISTEN (0A), the queue contains connections. */
function unreadSockets(): number {
  return connectionsOfServer().filter(({ state, queues }) => state !== "0A" && queues !== "00000000:00000000")
    .length;
}

type UnfinishedCall = readonly [path: string, contentType: string, bytes: number];

const json = ["/v1/eval/batch", "application/json", 1024 * 1024] as const;
const rpc = "/chess.analysis.v1.AnalysisService/EvaluateBatch";
const connect = [rpc, "application/connect+json", 256 * 1024] as const;

/**
 * Sends large bodies without their last byte. First, JSON bodies fill the memory, except half of what the last body needs. Then
 * the server rejects the last body. Returns the answer.
 */
async function sendUnfinished(...last: UnfinishedCall): Promise<string> {
  const [path, contentType, most] = json;
  const filled = budgetBytes - (last[2] - freeBytes) / 2;
  const count = Math.ceil(filled / (most - freeBytes));
  const filling = [path, contentType, Math.floor(filled / count) + freeBytes] as const;
  const answers = await Promise.all(Array.from({ length: count }, () => send(...filling)));
  await expect.poll(unreadSockets, { ...patience, interval: 5 }).toBe(0);
  expect(answers.map((received) => received())).toEqual(answers.map(() => ""));
  const answer = await send(...last);
  await expect.poll(answer, patience).not.toBe("");
  return answer();
}

/** Sends a body without its last byte. Returns a function that returns the answer. */
async function send(path: string, contentType: string, bytes: number): Promise<() => string> {
  const whole = contentType.includes("connect")
    ? envelope(Buffer.alloc(bytes - 5, " "))
    : Buffer.alloc(bytes, " ");
  const body = whole.subarray(0, -1);
  const { socket, received } = await open(port());
  sockets.push(socket);
  clientPorts.push(socket.localPort ?? expect.fail("the connection has ended"));
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: ${contentType}\r\nContent-Length: ${bytes}\r\n\r\n`,
  );
  await Promise.race([new Promise((sent) => socket.write(body, sent)), once(socket, "data")]);
  return received;
}

describe("unfinished bodies", () => {
  test.each([json, connect])(
    "unfinished bodies sent to %s are refused when their memory limit is reached",
    async (...call) => {
      const answer = await sendUnfinished(...call);
      if (call[0] === json[0]) {
        expect(problemOf(answer)).toMatchObject({ status: 503, code: "overloaded" });
        expect(answer).toContain("Retry-After: 1\r\n");
      } else {
        expect(answer).toMatch(/"code":"unavailable".*"OVERLOADED"/);
      }
      expect(await statusOfLarge()).toBe(503);
      // A small body is accepted while large bodies fill the memory.
      expect((await post(`${app.url}/v1/eval`, { fen: startFen, depth: 1 })).status).toBe(200);
      for (const socket of sockets) {
        socket.destroy();
      }
      await expect.poll(statusOfLarge, patience).toBe(200);
    },
  );

  test("a batch over gRPC is refused as unavailable while unfinished bodies use all memory for bodies", async () => {
    await sendUnfinished(...json);
    const sent = { "content-type": "application/grpc+proto" };
    const { trailers } = await callGrpc(app.url, "EvaluateBatch", envelope(Buffer.alloc(250_000)), sent);
    expect(trailers).toMatchObject({ "grpc-status": "14" });
  });
});

test("bodies that are complete do not use up the memory for unfinished bodies", async () => {
  for (let sent = 0; sent < 1.5 * budgetBytes; sent += large.length) {
    expect(await statusOfLarge()).toBe(200);
  }
});
