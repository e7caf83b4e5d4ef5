import { once } from "node:events";
import type { RequestListener, ServerResponse } from "node:http";
import { connect as connectHttp2, constants as http2 } from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";
import {
  Code,
  ConnectError,
  type ConnectRouter,
  createClient,
  createConnectRouter,
} from "@connectrpc/connect";
import type { Compression, UniversalServerRequest } from "@connectrpc/connect/protocol";
import {
  compressionGzip,
  connectNodeAdapter,
  createGrpcTransport,
  universalRequestFromNodeRequest,
  universalResponseToNodeResponse,
} from "@connectrpc/connect-node";
import { expect, onTestFinished, vi } from "vitest";
import { AnalysisService } from "../../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { ServerReflection } from "../../../../gen/grpc/reflection/v1/reflection_pb.ts";
import { exchange, open } from "../../../http/exchange.ts";
import { envelope, type Faults, service, startServer } from "./bare-library.ts";

const answersAtOnce = (router: ConnectRouter) =>
  void router.rpc(AnalysisService.method.listEngines, () => ({ latest: "x".repeat(3000) }));

const answersWhenLeft = (seen: unknown[]) => (router: ConnectRouter) =>
  void router.rpc(AnalysisService.method.listEngines, async (_, { signal }) => {
    await once(signal, "abort");
    seen.push(signal.reason);
    return {};
  });

/** How long an absence is waited for: what does not come by then would have come in a turn or two of the event loop. */
const longEnoughMs = 200;

/** How long is waited for what has to come. */
const patiently = { timeout: 10_000 };

/** The beginning of a request over HTTP/1.1. */
const post = (call: string) => `POST ${service}/${call} HTTP/1.1\r\nHost: x\r\n`;

/** Asks a bare server for one call over HTTP/1.1. */
async function ask(method: string, call: string, type?: string) {
  const port = await startServer("1.1", connectNodeAdapter({ routes: answersAtOnce }));
  const answer = await fetch(`http://127.0.0.1:${port}${service}/${call}`, {
    method,
    headers: type === undefined ? {} : { "content-type": type },
    ...(method === "POST" && { body: Buffer.alloc(5) }),
  });
  return { status: answer.status, headers: answer.headers, body: await answer.text() };
}

/** Faults of connect-node that Kibitz works around. */
export const faultsOfConnectNode: Faults = {
  async "A broken `Host` or `:authority` throws outside of any try, which ends the process."() {
    const adapter = connectNodeAdapter({ routes: answersAtOnce });
    const thrown: unknown[] = [];
    const port = await startServer("1.1", (req, res) => {
      try {
        adapter(req, res);
      } catch (error) {
        thrown.push(error);
      }
      res.end();
    });
    await exchange(port, `POST ${service}/ListEngines HTTP/1.1\r\nHost: [\r\nConnection: close\r\n\r\n`);
    expect(thrown).toMatchObject([{ code: "ERR_INVALID_URL" }]);
  },

  async "A wrong method, media type or HTTP version is refused with an empty body."() {
    expect(await ask("POST", "ListEngines", "text/plain")).toMatchObject({ status: 415, body: "" });
    expect(await ask("DELETE", "ListEngines")).toMatchObject({ status: 405, body: "" });
    expect((await ask("DELETE", "ListEngines")).headers.get("allow")).toBeNull();
    const [talk] = createConnectRouter().service(ServerReflection, {}).handlers;
    expect(await talk?.({ httpVersion: "1.1" } as UniversalServerRequest)).toMatchObject({ status: 505 });
  },

  async "A failure outside of a handler is written to the console, and the client waits forever."() {
    const told = vi.spyOn(console, "error").mockReturnValue();
    onTestFinished(() => told.mockRestore());
    const broken: Compression = { ...compressionGzip, compress: () => Promise.reject(new Error("broken")) };
    const adapter = connectNodeAdapter({ routes: answersAtOnce, acceptCompression: [broken] });
    const answers: ServerResponse[] = [];
    const port = await startServer("1.1", (req, res) => {
      answers.push(res);
      adapter(req, res);
    });
    const { socket } = await open(port);
    onTestFinished(() => void socket.destroy());
    socket.write(
      `${post("ListEngines")}Accept-Encoding: gzip\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`,
    );
    await expect.poll(() => told.mock.calls, patiently).toHaveLength(1);
    await sleep(longEnoughMs);
    expect(answers).toMatchObject([{ headersSent: false, destroyed: false }]);
  },

  async "An unknown method is answered with an empty 404 in no protocol."() {
    const answer = await ask("POST", "Nope", "application/grpc");
    expect(answer).toMatchObject({ status: 404, body: "" });
    expect(answer.headers.get("content-type")).toBeNull();
  },

  async "gRPC over HTTP/1.1 is answered, though its specification and its clients need HTTP/2."() {
    expect((await ask("POST", "ListEngines", "application/grpc")).status).toBe(200);
  },

  async "After a message that is too large, an HTTP/1.1 connection stays open and never answers again."() {
    const port = await startServer("1.1", connectNodeAdapter({ routes: answersAtOnce, readMaxBytes: 1000 }));
    const { socket, received } = await open(port);
    onTestFinished(() => void socket.destroy());
    const head = `${post("ListEngines")}Content-Type: application/json\r\n`;
    const tooLarge = "x".repeat(200_000);
    socket.write(
      `${head}Transfer-Encoding: chunked\r\n\r\n${tooLarge.length.toString(16)}\r\n${tooLarge}\r\n`,
    );
    await expect.poll(received, patiently).toMatch(/^HTTP\/1\.1 429 [\s\S]*Connection: keep-alive/);
    socket.write(`0\r\n\r\n${head}Content-Length: 2\r\n\r\n{}`);
    await sleep(longEnoughMs);
    expect(received().match(/HTTP\/1\.1 \d+/g), "the next request is not answered").toHaveLength(1);
  },

  async "If the client disconnects while it sends, the error has no code and counts as a failure of the server."() {
    const begun = Promise.withResolvers<void>();
    const failed = Promise.withResolvers<unknown>();
    const port = await startServer("1.1", async (req, res) => {
      const { body } = universalRequestFromNodeRequest(req, res, undefined, undefined);
      begun.resolve();
      await Array.fromAsync(body as AsyncIterable<Uint8Array>).then(failed.resolve, failed.resolve);
    });
    const { socket } = await open(port);
    socket.write(`${post("Evaluate")}Content-Length: 200\r\n\r\nbegun`);
    await begun.promise;
    socket.destroy();
    const error = await failed.promise;
    expect(error).toMatchObject({ code: "ECONNRESET" });
    expect(error).not.toBeInstanceOf(ConnectError);
  },

  async "The writer of a stream waits forever if an HTTP/2 client left with its window full."() {
    let ended = false;
    const { handlers } = createConnectRouter().rpc(AnalysisService.method.streamEvaluate, async function* () {
      try {
        for (;;) {
          yield { event: { case: "evaluation" as const, value: { fen: "x".repeat(200_000) } } };
        }
      } finally {
        ended = true;
      }
    });
    const closed = Promise.withResolvers<void>();
    const port = await startServer("2", async (req, res) => {
      res.once("close", () => closed.resolve());
      const reply = await handlers[0]?.(universalRequestFromNodeRequest(req, res, undefined, undefined));
      await universalResponseToNodeResponse(reply as NonNullable<typeof reply>, res);
    });
    const client = connectHttp2(`http://127.0.0.1:${port}`);
    onTestFinished(() => client.destroy());
    const headers = { ":method": "POST", ":path": `${service}/StreamEvaluate` };
    const stream = client.request({ ...headers, "content-type": "application/connect+json" });
    stream.end(envelope("{}"));
    await once(stream, "response");
    // Nobody reads: the first message fills the window, and the writer waits.
    stream.close(http2.NGHTTP2_CANCEL);
    client.destroy();
    await closed.promise;
    await sleep(longEnoughMs);
    expect(ended, "a stream that nobody reads any more has not ended").toBe(false);
  },

  async "The error listener of a request is removed too early, and the next error ends the process."() {
    const adapter = connectNodeAdapter({ routes: answersWhenLeft([]) });
    let begun = 0;
    const othersThatListen: number[] = [];
    const port = await startServer("1.1", (req, res) => {
      begun++;
      adapter(req, res);
      req.on("error", () => othersThatListen.push(req.listenerCount("error") - 1));
    });
    const head = `${post("ListEngines")}Content-Length: 2\r\n`;
    const { socket, closed } = await open(port);
    // The second is answered at once, and its answer waits for the first.
    socket.write(`${head}Content-Type: application/json\r\n\r\n{}${head}Content-Type: text/plain\r\n\r\n{}`);
    await expect.poll(() => begun, patiently).toBe(2);
    await sleep(longEnoughMs);
    socket.destroy();
    await closed;
    await expect.poll(() => othersThatListen, patiently).toEqual([0]);
  },

  async "Answers to GET depend on Accept-Encoding, but have no Vary for caches."() {
    const { status, headers } = await ask("GET", "ListEngines?encoding=json&message=%7B%7D");
    expect(status).toBe(200);
    expect(headers.get("content-encoding")).toBe("gzip");
    expect(headers.get("vary")).toBeNull();
  },

  async "The gRPC client resets a stream with INTERNAL_ERROR when the deadline has passed."() {
    const reasons: unknown[] = [];
    const adapter = connectNodeAdapter({ routes: answersWhenLeft(reasons) });
    const withoutDeadline: RequestListener = (req, res) => {
      delete req.headers["grpc-timeout"];
      adapter(req, res);
    };
    const baseUrl = `http://127.0.0.1:${await startServer("2", withoutDeadline)}`;
    const client = createClient(AnalysisService, createGrpcTransport({ baseUrl }));
    await expect(client.listEngines({}, { timeoutMs: 300 })).rejects.toThrow();
    await expect.poll(() => reasons, patiently).toMatchObject([{ code: Code.Internal }]);
    expect(String(reasons[0])).toContain("INTERNAL_ERROR");
  },
};
