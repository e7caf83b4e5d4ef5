import { connect, type IncomingHttpHeaders, type OutgoingHttpHeaders } from "node:http2";

export async function http2Get(
  base: string,
  headers: OutgoingHttpHeaders,
  body?: string | Buffer,
): Promise<{ status: number; headers: IncomingHttpHeaders; body: string }> {
  const client = connect(base);
  try {
    return await new Promise((resolve, reject) => {
      client.on("error", reject);
      const stream = client.request(headers, { endStream: body === undefined });
      let answered: IncomingHttpHeaders = {};
      let text = "";
      stream.setEncoding("utf8").on("response", (got) => {
        answered = got;
      });
      stream.on("data", (chunk) => {
        text += chunk;
      });
      stream.on("error", reject);
      stream.on("close", () =>
        resolve({ status: Number(answered[":status"]), headers: answered, body: text }),
      );
      if (body !== undefined) {
        stream.end(body);
      }
    });
  } finally {
    client.destroy();
  }
}
