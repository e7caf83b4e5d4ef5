import { Agent, request } from "node:http";
import { type ClientHttp2Session, connect, constants } from "node:http2";
import { open } from "../../support/raw-http.ts";
import type { FuzzedRequest } from "./fuzzed-request.ts";

export interface Reply {
  /** 0 if the server closed the connection without a response. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly trailers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly complete: boolean;
}

export interface Sender extends Disposable {
  /** Rejects if the response does not arrive within `answerMaxMs`. */
  send(request: FuzzedRequest): Promise<Reply>;
}

/** Milliseconds. A response that takes longer is a failure, even on a busy machine. */
export const answerMaxMs = 60_000;

export function createSender(port: number): Sender {
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  let session: ClientHttp2Session | undefined;
  const openSession = () => {
    if (session === undefined || session.closed || session.destroyed) {
      session = connect(`http://127.0.0.1:${port}`);
      // Errors are reported by the streams of the session.
      session.on("error", () => {});
    }
    return session;
  };
  return {
    async send(fuzzed) {
      const sent =
        fuzzed.over === "socket"
          ? sendBytes(port, fuzzed.bytes)
          : fuzzed.over === "http1"
            ? sendHttp1(port, agent, fuzzed)
            : sendHttp2(openSession(), fuzzed);
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Error(`no answer within ${answerMaxMs} ms`)), answerMaxMs);
      });
      try {
        return await Promise.race([sent, late]);
      } finally {
        clearTimeout(timer);
      }
    },
    [Symbol.dispose]() {
      agent.destroy();
      session?.destroy();
    },
  };
}

type HttpRequest = Exclude<FuzzedRequest, { over: "socket" }>;

function sendHttp1(port: number, agent: Agent, { method, path, headers, body }: HttpRequest): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const bytes = Buffer.from(body, "latin1");
    const all = [
      ...headers,
      ...(bytes.length > 0 || method === "POST" ? [["Content-Length", String(bytes.length)] as const] : []),
    ];
    const outgoing = request({
      host: "127.0.0.1",
      port,
      agent,
      method,
      path,
      headers: Object.fromEntries(all),
    });
    outgoing.on("response", (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
      incoming.on("error", () => {});
      incoming.on("close", () =>
        resolve({
          status: incoming.statusCode ?? 0,
          headers: single(incoming.headers),
          trailers: single(incoming.trailers),
          body: Buffer.concat(chunks),
          complete: incoming.complete,
        }),
      );
    });
    outgoing.on("error", reject);
    outgoing.end(bytes);
  });
}

const connectionHeaders = ["connection", "host", "transfer-encoding", "upgrade", "keep-alive"];

function sendHttp2(
  session: ClientHttp2Session,
  { method, path, headers, body }: HttpRequest,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const lower = headers.map(([name, value]) => [name.toLowerCase(), value] as const);
    const own = lower.filter(
      ([name, value]) => !connectionHeaders.includes(name) && (name !== "te" || value === "trailers"),
    );
    const stream = session.request(
      { ":method": method, ":path": path, ...Object.fromEntries(own) },
      { endStream: false },
    );
    const chunks: Buffer[] = [];
    let [head, trailers]: [Readonly<Record<string, unknown>>, Readonly<Record<string, unknown>>] = [{}, {}];
    stream.on("response", (received) => {
      head = received;
    });
    stream.on("trailers", (received) => {
      trailers = received;
    });
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("error", (error) => {
      // The server may respond before it has read the whole request.
      if (head[":status"] === undefined) {
        reject(error);
      }
    });
    stream.on("close", () =>
      resolve({
        status: Number(head[":status"] ?? 0),
        headers: single(head),
        trailers: single(trailers),
        body: Buffer.concat(chunks),
        complete: stream.rstCode === constants.NGHTTP2_NO_ERROR,
      }),
    );
    stream.end(Buffer.from(body, "latin1"));
  });
}

/**
 * Sends bytes over a socket and then ends the socket. Node may abort a response that is not ready at this moment. Returns only
 * the first response.
 */
async function sendBytes(port: number, bytes: string): Promise<Reply> {
  const { socket, closed } = await open(port);
  socket.end(Buffer.from(bytes, "latin1"));
  return replyFromBytes(Buffer.from(await closed, "latin1"));
}

function replyFromBytes(received: Buffer): Reply {
  const end = received.indexOf("\r\n\r\n");
  const [statusLine = "", ...lines] = received.subarray(0, Math.max(0, end)).toString("latin1").split("\r\n");
  const status = Number(/^HTTP\/1\.1 (\d{3})( |$)/.exec(statusLine)?.[1] ?? 0);
  const headers = Object.fromEntries(
    lines.map((line) => [
      line.slice(0, line.indexOf(":")).toLowerCase(),
      line.slice(line.indexOf(":") + 1).trim(),
    ]),
  );
  const length = headers["content-length"];
  const rest = received.subarray(end + 4);
  const chunked = headers["transfer-encoding"] === "chunked";
  const body = chunked ? joinChunks(rest) : length === undefined ? rest : rest.subarray(0, Number(length));
  return {
    status,
    headers,
    trailers: {},
    body,
    complete: chunked ? rest.includes("0\r\n\r\n") : body.length === Number(length),
  };
}

function joinChunks(bytes: Buffer): Buffer {
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf("\r\n", at);
    const length = Number.parseInt(bytes.subarray(at, end).toString("latin1"), 16);
    if (end < 0 || !(length > 0)) {
      break;
    }
    chunks.push(bytes.subarray(end + 2, end + 2 + length));
    at = end + 2 + length + 2;
  }
  return Buffer.concat(chunks);
}

/** Removes the pseudo-headers of HTTP/2, and keeps one value of each header. */
function single(headers: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  const fields = Object.entries(headers).filter(([name]) => !name.startsWith(":"));
  return Object.fromEntries(fields.map(([name, value]) => [name.toLowerCase(), String(value)]));
}
