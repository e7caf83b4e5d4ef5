import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { describe, expect, onTestFinished, test } from "vitest";
import { KibitzError } from "../../src/errors/errors.ts";
import type { RequestHandler } from "../../src/http/message.ts";
import { sendProblem } from "../../src/http/send-problem.ts";
import { open } from "../support/raw-http.ts";
import { startListener } from "./start-listener.ts";

const error = new KibitzError("body_too_large", "Too much.");

/** Refuses requests for `/unread` immediately, and requests for `/part` after reading 64 KiB of the body. */
const refuse: RequestHandler = (req, res) => {
  if (req.url === "/unread") {
    sendProblem(req, res, error);
  }
  if (req.url !== "/part") {
    return req.url === "/unread";
  }
  let length = 0;
  const count = (chunk: Buffer) => {
    length += chunk.length;
    if (length <= 65_536) {
      return;
    }
    req.off("data", count);
    sendProblem(req, res, error);
  };
  req.on("data", count);
  return true;
};

describe("a problem document", () => {
  test("a problem document is one line of JSON with the headers that belong to the error", async () => {
    const busy = new KibitzError("overloaded", "Busy.", { retryAfterMs: 1200 });
    const { base } = await startListener([
      (req, res) => {
        sendProblem(req, res, busy, [["Allow", "GET"]]);
        return true;
      },
    ]);
    const answer = await fetch(base, { headers: { "X-Request-Id": "id-1" } });
    expect(answer.status).toBe(503);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "content-type": "application/problem+json",
      "cache-control": "no-store",
      "x-request-id": "id-1",
      "retry-after": "2",
      allow: "GET",
    });
    const text = await answer.text();
    expect(text.endsWith("}\n")).toBe(true);
    expect(JSON.parse(text)).toMatchObject({ code: "overloaded", request_id: "id-1", retry_after_ms: 1200 });
    const head = await fetch(base, { method: "HEAD", headers: { "X-Request-Id": "id-1" } });
    expect(head.headers.get("content-length")).toBe(String(text.length));
    expect(await head.text()).toBe("");
  });

  test.each(["/unread", "/part"])(
    "a client that is still sending 8 MB to %s receives the problem document",
    async (path) => {
      const { base } = await startListener([refuse]);
      const body = Buffer.alloc(8_000_000);
      for (let round = 0; round < 3; round += 1) {
        const answer = await fetch(base + path, { method: "POST", body });
        expect(answer.status).toBe(413);
        expect(answer.headers.get("connection")).toBe("close");
        expect(await answer.json()).toMatchObject({ code: "body_too_large" });
      }
    },
  );

  test("an HTTP/2 client that is still sending receives the problem document, and its stream ends", async () => {
    const { base } = await startListener([refuse]);
    const client = connectHttp2(base);
    onTestFinished(() => client.destroy());
    const answers = ["/unread", "/part"].map(async (path) => {
      const stream = client.request({ ":path": path, ":method": "POST" });
      stream.write(Buffer.alloc(200_000));
      const [headers] = await once(stream, "response");
      expect(headers[":status"]).toBe(413);
      stream.resume();
      await once(stream, "close");
    });
    await Promise.all(answers);
    expect(client.destroyed).toBe(false);
  });

  test("a refused client that keeps sending is disconnected", async () => {
    const { port } = await startListener([refuse]);
    const { socket, closed } = await open(port);
    socket.write("POST /unread HTTP/1.1\r\nHost: x\r\nContent-Length: 10000000000\r\n\r\n");
    const more = setInterval(() => socket.write(Buffer.alloc(1000)), 10);
    onTestFinished(() => clearInterval(more));
    expect(await closed).toContain("413");
  });

  test("a problem document is not sent if the response has already started or the client has disconnected", async () => {
    let answered = 0;
    const { port, base, errors } = await startListener([
      (req, res) => {
        if (req.url === "/begun") {
          res.statusCode = 200;
          (res as ServerResponse).flushHeaders();
          sendProblem(req, res, error);
          res.end("as begun");
        }
        if (req.url === "/left") {
          res.once("close", () => {
            sendProblem(req, res, error);
            answered += 1;
          });
        }
        return true;
      },
    ]);
    expect(await (await fetch(`${base}/begun`)).text()).toBe("as begun");
    const { socket } = await open(port);
    socket.end("GET /left HTTP/1.1\r\nHost: x\r\n\r\n");
    const client = connectHttp2(base);
    onTestFinished(() => client.destroy());
    const stream = client.request({ ":path": "/left" });
    stream.on("error", () => {});
    stream.once("ready", () => setTimeout(() => stream.close(8), 20));
    await expect.poll(() => answered).toBe(2);
    expect(errors).toEqual([]);
  });
});
