import { once } from "node:events";
import { connect, type IncomingHttpHeaders } from "node:http2";
import { rpcOf } from "../../abuse/calls.ts";
import { envelope } from "../../support/envelope.ts";

/** Makes a gRPC call without a client library. Returns the raw headers and trailers. */
export async function callGrpc(
  url: string,
  call: string,
  body: Uint8Array,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly headers: IncomingHttpHeaders; readonly trailers: IncomingHttpHeaders }> {
  const session = connect(url);
  try {
    const stream = session.request({
      ":method": "POST",
      ":path": rpcOf(call),
      "content-type": "application/grpc+json",
      te: "trailers",
      ...headers,
    });
    const got = { headers: {}, trailers: {} };
    stream.on("response", (head) => Object.assign(got.headers, head));
    stream.on("trailers", (tail) => Object.assign(got.trailers, tail));
    stream.end(body).resume();
    await once(stream, "close");
    return got;
  } finally {
    session.destroy();
  }
}

export const enveloped = (message: unknown) => envelope(Buffer.from(JSON.stringify(message)));
