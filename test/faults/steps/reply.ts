import { request } from "node:http";
import { connect } from "node:http2";

/** The part of an answer that a client received before the end of the answer or of its connection. */
export interface Reply {
  /** Undefined if the connection or stream ended before the headers. */
  readonly status: number | undefined;
  /** The headers, and over HTTP/2 also the trailers. The names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** False if the client can see that the answer is cut off. */
  readonly isComplete: boolean;
}

export interface Sent {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly http2?: boolean;
  /** The loopback address of the client. */
  readonly from?: string;
}

/** A client waits at most this number of milliseconds. */
const silenceMaxMs = 10_000;

/** Sends a request over a connection of its own. Rejects if the server neither answers nor ends the connection. */
export async function replyTo(base: string, sent: Sent): Promise<Reply> {
  const silence = Promise.withResolvers<never>();
  const timer = setTimeout(() => silence.reject(new Error("silence")), silenceMaxMs);
  try {
    return await Promise.race([sent.http2 ? overHttp2(base, sent) : overHttp1(base, sent), silence.promise]);
  } finally {
    clearTimeout(timer);
  }
}

function overHttp1(base: string, { method, path, headers = {}, body, from }: Sent): Promise<Reply> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let status: number | undefined;
    let got: Record<string, string> = {};
    const end = (isComplete: boolean) =>
      resolve({ status, headers: got, body: Buffer.concat(chunks), isComplete });
    const options = {
      method: method ?? (body === undefined ? "GET" : "POST"),
      headers,
      agent: false,
      ...(from !== undefined && { localAddress: from }),
    };
    const asking = request(base + path, options, (res) => {
      status = res.statusCode;
      got = Object.fromEntries(Object.entries(res.headers).map(([name, value]) => [name, String(value)]));
      res.on("data", (chunk: Buffer) => chunks.push(chunk));
      res.on("error", () => {});
      res.on("close", () => end(res.complete));
    });
    asking.on("error", () => end(false));
    asking.end(body);
  });
}

function overHttp2(base: string, { method, path, headers = {}, body, from }: Sent): Promise<Reply> {
  const client = connect(base, from === undefined ? {} : ({ localAddress: from } as object));
  return new Promise<Reply>((resolve) => {
    const chunks: Buffer[] = [];
    let status: number | undefined;
    let got: Record<string, string> = {};
    let isComplete = false;
    const end = () => resolve({ status, headers: got, body: Buffer.concat(chunks), isComplete });
    client.on("error", end).on("close", end);
    const stream = client.request(
      { ":method": method ?? (body === undefined ? "GET" : "POST"), ":path": path, ...headers },
      { endStream: body === undefined },
    );
    const add = (more: object) => {
      got = {
        ...got,
        ...Object.fromEntries(Object.entries(more).map(([name, value]) => [name, String(value)])),
      };
    };
    stream.on("response", (head) => {
      status = head[":status"];
      add(head);
    });
    stream.on("trailers", add);
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("error", () => {});
    stream.on("end", () => {
      isComplete = true;
    });
    stream.on("close", () => {
      isComplete &&= stream.rstCode === 0;
      end();
    });
    if (body !== undefined) {
      stream.end(body);
    }
  }).finally(() => client.destroy());
}
