import { connect, type IncomingHttpHeaders } from "node:http2";
import type { Plain } from "./door.ts";

/** The trailers of a call by gRPC as they come, without a client that reads them. The request is sent as JSON. */
export async function trailersOf(
  url: string,
  call: string,
  request: Plain,
  headers: Readonly<Record<string, string>> = {},
): Promise<IncomingHttpHeaders> {
  const session = connect(url);
  try {
    const stream = session.request({
      ":method": "POST",
      ":path": `/chess.analysis.v1.AnalysisService/${call}`,
      "content-type": "application/grpc+json",
      te: "trailers",
      ...headers,
    });
    const trailers = new Promise<IncomingHttpHeaders>((resolve, reject) => {
      stream.on("error", reject).on("trailers", resolve);
    });
    const message = Buffer.from(JSON.stringify(request));
    const head = Buffer.alloc(5);
    head.writeUInt32BE(message.length, 1);
    stream.end(Buffer.concat([head, message]));
    stream.resume();
    return await trailers;
  } finally {
    session.destroy();
  }
}
