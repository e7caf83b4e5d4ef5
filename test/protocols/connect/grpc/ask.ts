import { once } from "node:events";
import { connect, constants, type IncomingHttpHeaders } from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";

/** A request as it goes over the wire. */
export interface WireRequest {
  /** `/chess.analysis.v1.AnalysisService/Evaluate`. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Parts of the body, a moment after each other. */
  readonly body: readonly Uint8Array[];
}

/** Everything that comes back. */
export interface WireAnswer {
  readonly headers: IncomingHttpHeaders;
  /** Whether the headers were the end. */
  readonly endsWithHeaders: boolean;
  /** As Latin-1, so that a difference can be read. */
  readonly body: string;
  readonly trailers: IncomingHttpHeaders;
  readonly resetCode: number;
}

const betweenPartsMs = 20;

/** Asks over HTTP/2 without any client of gRPC, on a connection of its own. */
export async function askOverWire(
  url: string,
  { path, headers, body }: WireRequest,
  type: string,
): Promise<WireAnswer> {
  const session = connect(url);
  const stream = session.request({
    ":method": "POST",
    ":path": path,
    "content-type": type,
    te: "trailers",
    ...headers,
  });
  const answer = { headers: {}, endsWithHeaders: false, trailers: {} };
  const chunks: Buffer[] = [];
  stream.on("response", (got, flags) => {
    answer.headers = got;
    answer.endsWithHeaders = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0;
  });
  stream.on("trailers", (got) => {
    answer.trailers = got;
  });
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  // A reset shows in its code.
  stream.on("error", () => {});
  const closed = once(stream, "close");
  for (const [index, part] of body.entries()) {
    if (index > 0) {
      await sleep(betweenPartsMs);
    }
    if (stream.writable) {
      stream.write(part);
    }
  }
  stream.end();
  await closed;
  session.destroy();
  return { ...answer, body: Buffer.concat(chunks).toString("latin1"), resetCode: stream.rstCode };
}

/** A message behind its flags and its length. */
export function enveloped(message: Uint8Array, flags = 0, length = message.length): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt8(flags, 0);
  prefix.writeUInt32BE(length, 1);
  return Buffer.concat([prefix, message]);
}
