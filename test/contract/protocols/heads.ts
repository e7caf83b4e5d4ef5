import type { DescMethod, JsonObject } from "@bufbuild/protobuf";
import { AnalysisService } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { type EncodedCall, encodeCall } from "../../support/encode-call.ts";
import { callGrpc } from "./call-grpc.ts";
import type { Plain } from "./protocol.ts";

interface Heads {
  /** An HTTP status, or the number of a gRPC status. */
  readonly status: number;
  readonly headers: Headers;
  readonly trailers: Headers;
}

export interface HeadsKind {
  readonly name: string;
  /** The status of a successful response. */
  readonly ok: number;
  /** The status if a request exceeds the caller's plan. */
  readonly upgrade: number;
  /** The status if a rate limit is exceeded. */
  readonly later: number;
  readonly unauthenticated: number;
  /** False for Connect streams, because an error in a stream has no headers. */
  readonly errorsHaveHeaders: boolean;
  ask(url: string, request: Plain, headers?: Readonly<Record<string, string>>): Promise<Heads>;
}

type StatusOf = (status: number, text: string) => number;

const { evaluate, streamEvaluate } = AnalysisService.method;
const http = { ok: 200, upgrade: 402, later: 429, unauthenticated: 401, errorsHaveHeaders: true };
const grpcCodes = { ok: 0, upgrade: 7, later: 8, unauthenticated: 16, errorsHaveHeaders: true };

const byFetch =
  (encode: (request: Plain) => EncodedCall, statusOf: StatusOf = (status) => status): HeadsKind["ask"] =>
  async (url, request, headers = {}) => {
    const { path, contentType, body } = encode(request);
    const response = await fetch(url + path, {
      method: "POST",
      headers: { "Content-Type": contentType, ...headers },
      body,
    });
    const text = await response.text();
    return { status: statusOf(response.status, text), headers: response.headers, trailers: new Headers() };
  };

const plain = (path: string) => (request: Plain) => ({
  path,
  contentType: "application/json",
  body: Buffer.from(JSON.stringify(request)),
});

const connect = (method: DescMethod) => (request: Plain) =>
  encodeCall("connect", "json", method, request as JsonObject);

const grpc =
  (method: DescMethod): HeadsKind["ask"] =>
  async (url, request, headers = {}) => {
    const { contentType, body } = encodeCall("grpc", "proto", method, request as JsonObject);
    const got = await callGrpc(url, method.name, body, { "content-type": contentType, ...headers });
    return {
      status: Number(got.trailers["grpc-status"]),
      headers: headersFrom(got.headers),
      trailers: headersFrom(got.trailers),
    };
  };

function headersFrom(fields: Readonly<Record<string, unknown>>): Headers {
  return new Headers(
    Object.entries(fields).flatMap(([name, value]) => (name.startsWith(":") ? [] : [[name, String(value)]])),
  );
}

/**
 * Returns the HTTP status of the error in the last message of a Connect stream. The HTTP status of the stream is always 200.
 */
function statusOfStream(_: number, text: string): number {
  const codes = { permission_denied: 403, resource_exhausted: 429, unauthenticated: 401 };
  return Object.entries(codes).find(([code]) => text.includes(`"code":"${code}"`))?.[1] ?? 200;
}

export const heads: readonly HeadsKind[] = [
  { name: "/v1/eval", ...http, ask: byFetch(plain("/v1/eval")) },
  { name: "/v1/bestmove", ...http, ask: byFetch(plain("/v1/bestmove")) },
  { name: "server-sent events", ...http, ask: byFetch(plain("/v1/eval/stream")) },
  { name: "Connect", ...http, upgrade: 403, ask: byFetch(connect(evaluate)) },
  {
    name: "Connect's stream",
    ...http,
    upgrade: 403,
    errorsHaveHeaders: false,
    ask: byFetch(connect(streamEvaluate), statusOfStream),
  },
  { name: "gRPC", ...grpcCodes, ask: grpc(evaluate) },
  { name: "gRPC's stream", ...grpcCodes, ask: grpc(streamEvaluate) },
];
