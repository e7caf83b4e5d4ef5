import { connect } from "node:http2";
import { expect, onTestFinished, test } from "vitest";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { open } from "../../support/raw-http.ts";
import { useApp } from "../../support/running-app.ts";

const app = useApp({}, { engines: createEnginesInProcess() });

const path = "/chess.analysis.v1.AnalysisService/Evaluate";

/** The content of one message. 2,000 such messages exceed both the body limit and the HTTP/2 flow control window. */
const text = Buffer.alloc(58, "a");
const message = Buffer.concat([Buffer.from([0, 0, 0, 0, text.length + 2, 0x0a, text.length]), text]);
const messages = (count: number) => Buffer.concat(Array.from({ length: count }, () => message));

test.each([
  [2, "application/grpc+proto", 12],
  [2, "application/gRPC+PROTO", 12],
  [2, "application/grpc-web+proto", 12],
  [2000, "application/grpc+proto", 8],
  [2000, "application/grpc-web+proto", 8],
])(
  "a unary call with %i messages in a body of the type %s gets one error, and its stream is closed",
  async (count, type, status) => {
    const session = connect(app.url);
    onTestFinished(() => session.destroy());
    const stream = session.request({ ":method": "POST", ":path": path, "content-type": type });
    const answer = Promise.withResolvers<string>();
    let received = "";
    stream.on("data", (part) => {
      received += part;
    });
    stream.on("trailers", (trailers) => {
      received += `grpc-status: ${trailers["grpc-status"]}`;
    });
    stream.on("close", () => answer.resolve(received));
    stream.end(messages(count));
    expect(await answer.promise).toContain(`grpc-status: ${status}`);
    const closed = Promise.withResolvers<string>();
    session.close(() => closed.resolve("closed"));
    // The server disconnects a client that keeps sending after one second.
    const patience = setTimeout(() => closed.resolve("open"), 3000);
    expect(await closed.promise).toBe("closed");
    clearTimeout(patience);
  },
);

test("an HTTP/1.1 connection stays usable after a unary call with too many messages", async () => {
  const { socket, received } = await open(Number(new URL(app.url).port));
  onTestFinished(() => void socket.destroy());
  const post = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/grpc-web+proto\r\n`;
  const body = messages(2000);
  socket.write(`${post}Content-Length: ${body.length}\r\n\r\n`);
  socket.write(body);
  await expect.poll(received).toContain("grpc-status: 8");
  socket.write("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const statuses = () => received().match(/HTTP\/1\.1 \d+/g);
  await expect.poll(statuses).toEqual(["HTTP/1.1 200", "HTTP/1.1 200"]);
});

test("gRPC over HTTP/1.1 is refused for all spellings of its content type", async () => {
  for (const type of ["application/grpc+proto", "application/gRPC+PROTO", "APPLICATION/GRPC"]) {
    const answer = await fetch(app.url + path, {
      method: "POST",
      body: new Uint8Array(5),
      headers: { "Content-Type": type },
    });
    expect([answer.status, await answer.json()]).toEqual([
      415,
      expect.objectContaining({ detail: expect.stringContaining("gRPC needs HTTP/2") }),
    ]);
  }
});
