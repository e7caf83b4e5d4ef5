import { once } from "node:events";
import type { RequestListener } from "node:http";
import { connect as connectHttp2, constants as http2 } from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";
import { Code, type ConnectRouter, createClient, createConnectRouter } from "@connectrpc/connect";
import type { UniversalServerRequest } from "@connectrpc/connect/protocol";
import {
  connectNodeAdapter,
  createGrpcTransport,
  universalRequestFromNodeRequest,
  universalResponseToNodeResponse,
} from "@connectrpc/connect-node";
import { expect, onTestFinished } from "vitest";
import { AnalysisService } from "../../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { ServerReflection } from "../../../../gen/grpc/reflection/v1/reflection_pb.ts";
import { envelope } from "../../../support/envelope.ts";
import { exchange } from "../../../support/raw-http.ts";
import { type Faults, service, startServer } from "./bare-library.ts";

const answersAtOnce = (router: ConnectRouter) =>
  void router.rpc(AnalysisService.method.listEngines, () => ({ latest: "x".repeat(3000) }));

const answersWhenLeft = (seen: unknown[]) => (router: ConnectRouter) =>
  void router.rpc(AnalysisService.method.listEngines, async (_, { signal }) => {
    await once(signal, "abort");
    seen.push(signal.reason);
    return {};
  });

/** The time in which a response would arrive, if the server sent any. */
const longEnoughMs = 200;

const patiently = { timeout: 10_000 };

async function ask(method: string, call: string, type?: string) {
  const port = await startServer("1.1", connectNodeAdapter({ routes: answersAtOnce }));
  const answer = await fetch(`http://127.0.0.1:${port}${service}/${call}`, {
    method,
    headers: type === undefined ? {} : { "content-type": type },
    ...(method === "POST" && { body: Buffer.alloc(5) }),
  });
  return { status: answer.status, headers: answer.headers, body: await answer.text() };
}

export const faultsOfConnectNode: Faults = {
  async "A broken `Host` or `:authority` causes an uncaught exception, which ends the process."() {
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

  async "An unknown method gets an empty 404, which no RPC protocol allows."() {
    const answer = await ask("POST", "Nope", "application/grpc");
    expect(answer).toMatchObject({ status: 404, body: "" });
    expect(answer.headers.get("content-type")).toBeNull();
  },

  async "gRPC over HTTP/1.1 is answered, though its specification and its clients need HTTP/2."() {
    expect((await ask("POST", "ListEngines", "application/grpc")).status).toBe(200);
  },

  async "The writer of a stream waits forever if an HTTP/2 client disconnects while its window is full."() {
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
    // The client does not read, so the first message fills the flow control window.
    stream.close(http2.NGHTTP2_CANCEL);
    client.destroy();
    await closed.promise;
    await sleep(longEnoughMs);
    expect(ended, "a stream that nobody reads any more has not ended").toBe(false);
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
    await expect(client.listEngines({}, { timeoutMs: 300 })).rejects.toMatchObject({
      code: Code.DeadlineExceeded,
    });
    await expect.poll(() => reasons, patiently).toMatchObject([{ code: Code.Internal }]);
    expect(String(reasons[0])).toContain("INTERNAL_ERROR");
  },
};
