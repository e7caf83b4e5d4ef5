import { expect, onTestFinished, test } from "vitest";
import { readBytes } from "../../src/http/body-budget.ts";
import type { RequestHandler } from "../../src/http/message.ts";
import { flag, frame, frameType, headerBlock, openFrames, requestFields } from "../abuse/frames.ts";
import { open, problemOf } from "../support/raw-http.ts";
import { startListener } from "./start-listener.ts";

/** Answers with the number of bytes of the body and the number of parts in which the service got the body. */
const readBody: RequestHandler = async (req, res) => {
  let parts = 0;
  const body = await readBytes(req, 1_000_000, () => parts++);
  res.end(`${body?.toString()} in ${parts}`);
  return true;
};

const text = (length: number) => Array.from({ length }, (_, index) => String(index % 10)).join("");

async function sendChunks(port: number, count: number): Promise<string> {
  const { socket, closed } = await open(port);
  const chunks = [...text(count)].map((letter) => `1\r\n${letter}\r\n`).join("");
  socket.write(
    `POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`,
  );
  return closed;
}

/** Sends raw frames, because the HTTP/2 client of Node joins its writes. */
async function sendFrames(port: number, count: number): Promise<string> {
  const client = await openFrames(port);
  onTestFinished(() => void client.socket.destroy());
  const data = [...text(count)].map((letter) => frame(frameType.data, 0, 1, Buffer.from(letter)));
  await client.send(
    frame(frameType.headers, flag.endHeaders, 1, headerBlock(requestFields("POST", "/"))),
    ...data,
    frame(frameType.data, flag.endStream, 1),
  );
  const answer = () =>
    Buffer.concat(client.frames.filter(({ type }) => type === frameType.data).map(({ payload }) => payload));
  const isEnded = () =>
    client.frames.some(({ type, flags }) => type === frameType.data && flags & flag.endStream);
  await expect.poll(isEnded).toBe(true);
  return answer().toString();
}

test.each(["HTTP/1.1", "HTTP/2"])(
  "a body of 3,000 parts over %s is read completely, and its parts are joined",
  async (version) => {
    const { port } = await startListener([readBody]);
    const answer = version === "HTTP/2" ? await sendFrames(port, 3000) : await sendChunks(port, 3000);
    const [, body, parts] = /(\d+) in (\d+)$/.exec(answer) ?? [];
    expect(body).toBe(text(3000));
    expect(Number(parts)).toBeLessThan(300);
  },
);

test("a body of more than 4,000 chunks gets 413 with what to do", async () => {
  const { port } = await startListener([readBody]);
  const refused = problemOf(await sendChunks(port, 4500));
  expect(refused).toMatchObject({ status: 413, code: "body_too_large" });
  expect(refused.head).toContain("Connection: close");
});

test("a body of more than 4,000 DATA frames gets 413", async () => {
  const { port } = await startListener([readBody]);
  expect(await sendFrames(port, 4500)).toContain("more than 4000 chunks or DATA frames");
});

test("a connection with a body of too many chunks is closed even if nobody reads the body", async () => {
  const { port } = await startListener();
  const { socket, closed, received } = await open(port);
  socket.write("POST /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
  const dribbling = setInterval(() => socket.write("1\r\nx\r\n".repeat(1000)), 10);
  onTestFinished(() => clearInterval(dribbling));
  await closed;
  expect(received()).toContain("405 Method Not Allowed");
});
