import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { v7 as uuidv7 } from "uuid";
import { errorKind } from "../../errors/catalogue.ts";
import type { KibitzError } from "../../errors/errors.ts";
import { headersFromError, problemFromError, problemMediaType } from "../../errors/problem.ts";

/** How long bytes that still come are thrown away: a reset for them would overtake the answer. */
const lingerMs = 1000;

/** Answers with a problem document where Node has made no response to write it to, and ends the connection. */
export function refuseSocket(
  socket: Duplex,
  error: KibitzError,
  extraHeaders: readonly (readonly [string, string])[],
): void {
  const requestId = uuidv7();
  const body = `${JSON.stringify(problemFromError(error, requestId))}\n`;
  const { status } = errorKind(error.code);
  const headers = [
    ["Content-Type", problemMediaType],
    ["Content-Length", Buffer.byteLength(body)],
    ["Cache-Control", "no-store"],
    ["X-Request-Id", requestId],
    ["Connection", "close"],
    ...headersFromError(error),
    ...extraHeaders,
  ];
  const head = headers.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head}\r\n${body}`);
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once("close", () => clearTimeout(timer));
}
