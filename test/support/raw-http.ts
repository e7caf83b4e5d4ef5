import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * Opens a connection that collects what the server sends.
 * @param from the loopback address of the client; every address in 127.0.0.0/8 belongs to this machine
 */
export async function open(
  port: number,
  from = "127.0.0.1",
): Promise<{ socket: Socket; received(): string; closed: Promise<string> }> {
  const socket = connect({ port, host: "127.0.0.1", localAddress: from });
  const chunks: Uint8Array[] = [];
  const received = () => Buffer.concat(chunks).toString("latin1");
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  socket.on("error", () => {});
  const closed = once(socket, "close").then(received);
  await once(socket, "connect");
  return { socket, received, closed };
}

/** Sends bytes, and returns everything that the server sends until it closes the connection. */
export async function exchange(port: number, bytes: string | Buffer): Promise<string> {
  const { socket, closed } = await open(port);
  socket.write(bytes);
  return closed;
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
