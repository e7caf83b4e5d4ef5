import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

export interface RawClient {
  readonly socket: Socket;
  received(): string;
  /** Resolves with all received bytes after the connection is closed. Never rejects. */
  readonly closed: Promise<string>;
}

interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Opens a connection that collects what the server sends.
 * @param from the loopback address of the client; every address in 127.0.0.0/8 belongs to this machine
 */
export async function open(port: number, from = "127.0.0.1"): Promise<RawClient> {
  const socket = connect({ port, host: "127.0.0.1", localAddress: from });
  const chunks: Uint8Array[] = [];
  const received = () => Buffer.concat(chunks).toString("latin1");
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  // After a connection reset, the tests check the received bytes.
  socket.on("error", () => {});
  const closed = new Promise<string>((resolve) => socket.once("close", () => resolve(received())));
  await once(socket, "connect");
  return { socket, received, closed };
}

/** The service must close a connection within this time. Its shortest timeout for an incomplete request is 10 s. */
const closedMaxMs = 9000;

/**
 * Sends bytes over a new connection. Resolves with the received bytes when the service closes the connection. Rejects after
 * nine seconds.
 */
export async function exchange(port: number, bytes: string | Uint8Array): Promise<string> {
  const { socket, closed } = await open(port);
  socket.write(typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes);
  return untilClosed({ socket, closed });
}

/** Resolves with the received bytes when the service closes the connection. Rejects after nine seconds. */
export async function untilClosed({ socket, closed }: Pick<RawClient, "socket" | "closed">): Promise<string> {
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    socket.destroy();
  }, closedMaxMs);
  const received = await closed;
  clearTimeout(timer);
  if (isLate) {
    throw new Error(
      `the service has left the connection open; it has sent ${JSON.stringify(received.slice(0, 300))}`,
    );
  }
  return received;
}

export function rawRequest(line: string, headers: readonly string[] = [], body = ""): string {
  return `${line} HTTP/1.1\r\n${["Host: x", ...headers].map((header) => `${header}\r\n`).join("")}\r\n${body}`;
}

/** Parses HTTP responses. The last response may be incomplete. */
export function answersFrom(received: string): readonly RawAnswer[] {
  const answers: RawAnswer[] = [];
  let rest = received;
  while (rest !== "") {
    const end = rest.indexOf("\r\n\r\n");
    const [statusLine = "", ...lines] = rest.slice(0, end).split("\r\n");
    if (end < 0 || !/^HTTP\/1\.1 \d{3} /.test(statusLine)) {
      throw new Error(`no answer begins with ${JSON.stringify(rest.slice(0, 80))}`);
    }
    const headers = Object.fromEntries(
      lines.map((line) => [
        line.slice(0, line.indexOf(":")).toLowerCase(),
        line.slice(line.indexOf(":") + 1).trim(),
      ]),
    );
    rest = rest.slice(end + 4);
    const status = Number(statusLine.split(" ")[1]);
    if (status === 100) {
      continue;
    }
    const length = Number(headers["content-length"] ?? rest.length);
    answers.push({ status, headers, body: Buffer.from(rest.slice(0, length), "latin1").toString() });
    rest = rest.slice(length);
  }
  return answers;
}

export async function sendByteByByte(socket: Socket, bytes: string | Buffer): Promise<void> {
  socket.setNoDelay(true);
  for (const byte of Buffer.from(bytes)) {
    socket.write(Buffer.of(byte));
    await sleep(0);
  }
}

export function problemOf(answer: string): { status: number; code: string; head: string } {
  const [head = "", body = ""] = answer.split("\r\n\r\n", 2);
  return { status: Number(head.split(" ")[1]), code: JSON.parse(body).code, head };
}
