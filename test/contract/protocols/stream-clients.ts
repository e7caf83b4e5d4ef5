import { once } from "node:events";
import { type IncomingMessage, request as request1 } from "node:http";
import { connect } from "node:http2";
import { ConnectError, type Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
  Http2SessionManager,
} from "@connectrpc/connect-node";
import {
  createGrpcWebTransport as createWebGrpcWebTransport,
  createConnectTransport as createWebTransport,
} from "@connectrpc/connect-web";
import { Metadata, type ServiceError } from "@grpc/grpc-js";
import { expect } from "vitest";
import { createClients, refusedFromServiceError } from "./clients/grpc-js.ts";
import { refusalFromProblem } from "./clients/json.ts";
import { plainFromProtoJson, protoJsonFromPlain } from "./proto-json.ts";
import type { Plain, Refusal } from "./protocol.ts";
import { refusedFromConnectError, streamOf } from "./protocol-from-transport.ts";
import { eventsFrom } from "./stream-events.ts";
import { withPlainStructs } from "./structs.ts";

type StreamedCall = "streamEvaluate" | "evaluateBatch" | "reviewGame";

/** A client that cancels the call if the reader stops early. */
export interface StreamClient extends AsyncDisposable {
  /**
   * Yields plain JSON without null values. Each event has one member, whose key is the name of the event.
   * @param signal cancels the call when aborted
   * @param timeoutMs the deadline that the client sends
   */
  stream(call: StreamedCall, request: Plain, signal: AbortSignal, timeoutMs?: number): AsyncIterable<Plain>;
}

interface StreamClientKind {
  readonly name: string;
  readonly deadlines: boolean;
  open(url: string): StreamClient;
  /** Returns the content of an error that `stream` has thrown. */
  refusalOf(thrown: unknown): Refusal;
}

const withTransport = (
  name: string,
  open: (url: string, sessions: Http2SessionManager) => Transport,
): StreamClientKind => ({
  name,
  deadlines: true,
  open(url: string): StreamClient {
    const sessions = new Http2SessionManager(url);
    const transport = open(url, sessions);
    return {
      stream: (call, request, signal, timeoutMs) => streamOf(transport, call, request, signal, timeoutMs),
      async [Symbol.asyncDispose]() {
        sessions.abort();
      },
    };
  },
  refusalOf: (thrown) => refusedFromConnectError(ConnectError.from(thrown)).refusal,
});

const grpcJs: StreamClientKind = {
  name: "grpc-js",
  deadlines: true,
  open(url) {
    const clients = createClients(url);
    return {
      async *stream(call, request, signal, timeoutMs) {
        const options = timeoutMs === undefined ? {} : { deadline: Date.now() + timeoutMs };
        const stream = clients.of(call)[call](protoJsonFromPlain(request), new Metadata(), options);
        signal.addEventListener("abort", () => stream.cancel());
        for await (const answer of stream) {
          yield plainFromProtoJson(withPlainStructs(answer));
        }
      },
      async [Symbol.asyncDispose]() {
        clients.close();
      },
    };
  },
  refusalOf: (thrown) => refusedFromServiceError(thrown as ServiceError, undefined).refusal,
};

const paths = {
  streamEvaluate: "/v1/eval/stream",
  evaluateBatch: "/v1/eval/batch",
  reviewGame: "/v1/review",
};

class ProblemError extends Error {
  readonly problem: Plain;

  constructor(text: string) {
    super(text);
    this.problem = JSON.parse(text);
  }
}

const plainRefusalOf = (thrown: unknown) => {
  expect(thrown).toBeInstanceOf(ProblemError);
  return refusalFromProblem((thrown as ProblemError).problem);
};

/** Throws the error of the call if the status is not 200. */
async function* plainFrom(
  call: StreamedCall,
  status: number | undefined,
  text: AsyncIterable<string>,
): AsyncIterable<Plain> {
  if (status !== 200) {
    throw new ProblemError((await Array.fromAsync(text)).join(""));
  }
  if (call === "evaluateBatch") {
    let rest = "";
    for await (const chunk of text) {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      yield* lines.map((line) => plainFromProtoJson(JSON.parse(line)));
    }
    return;
  }
  for await (const { event, data } of eventsFrom(text)) {
    if (event === "error") {
      throw new ProblemError(data);
    }
    if (event === "done" && call === "reviewGame") {
      yield { review: plainFromProtoJson(JSON.parse(data)) };
    } else if (event !== "done") {
      yield { [event]: plainFromProtoJson(JSON.parse(data)) };
    }
  }
}

const headers = {
  "Content-Type": "application/json",
  Accept: "text/event-stream, application/x-ndjson",
};

const plainHttp1: StreamClientKind = {
  name: "plain JSON over HTTP/1.1",
  deadlines: false,
  open: (url) => ({
    async *stream(call, body, signal) {
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        const sent = request1(url + paths[call], { method: "POST", headers, signal }, resolve);
        sent.on("error", reject).end(JSON.stringify(body));
      });
      yield* plainFrom(call, response.statusCode, response.setEncoding("utf8"));
    },
    async [Symbol.asyncDispose]() {},
  }),
  refusalOf: plainRefusalOf,
};

const plainHttp2: StreamClientKind = {
  name: "plain JSON over HTTP/2",
  deadlines: false,
  open(url) {
    const session = connect(url);
    return {
      async *stream(call, body, signal) {
        const sent = session.request(
          {
            ":method": "POST",
            ":path": paths[call],
            "content-type": headers["Content-Type"],
            accept: headers.Accept,
          },
          { signal },
        );
        sent.end(JSON.stringify(body));
        const [head] = (await once(sent, "response")) as [{ readonly ":status": number }];
        yield* plainFrom(call, head[":status"], sent.setEncoding("utf8"));
      },
      async [Symbol.asyncDispose]() {
        session.destroy();
      },
    };
  },
  refusalOf: plainRefusalOf,
};

export const streamClients: readonly StreamClientKind[] = [
  withTransport("gRPC", (baseUrl, sessionManager) => createGrpcTransport({ baseUrl, sessionManager })),
  grpcJs,
  withTransport("gRPC-Web over HTTP/1.1", (baseUrl) =>
    createGrpcWebTransport({ baseUrl, httpVersion: "1.1" }),
  ),
  withTransport("gRPC-Web over HTTP/2", (baseUrl, sessionManager) =>
    createGrpcWebTransport({ baseUrl, httpVersion: "2", sessionManager }),
  ),
  withTransport("gRPC-Web over fetch", (baseUrl) => createWebGrpcWebTransport({ baseUrl })),
  withTransport("Connect over HTTP/1.1", (baseUrl) =>
    createConnectTransport({ baseUrl, httpVersion: "1.1" }),
  ),
  withTransport("Connect JSON over HTTP/2", (baseUrl, sessionManager) =>
    createConnectTransport({ baseUrl, httpVersion: "2", sessionManager, useBinaryFormat: false }),
  ),
  withTransport("Connect over fetch", (baseUrl) => createWebTransport({ baseUrl })),
  plainHttp1,
  plainHttp2,
];
