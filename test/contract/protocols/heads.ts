import { fromJson, toBinary } from "@bufbuild/protobuf";
import { AnalysisRequestSchema } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import { envelope } from "../../support/envelope.ts";
import { callGrpc, enveloped } from "./call-grpc.ts";
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

const service = "/chess.analysis.v1.AnalysisService";
const http = { ok: 200, upgrade: 402, later: 429, unauthenticated: 401, errorsHaveHeaders: true };
const grpcCodes = { ok: 0, upgrade: 7, later: 8, unauthenticated: 16, errorsHaveHeaders: true };

const byFetch =
  (
    path: string,
    contentType: string,
    body: (request: Plain) => string | Buffer<ArrayBuffer>,
    statusOf: StatusOf = (status) => status,
  ) =>
  async (url: string, request: Plain, headers: Readonly<Record<string, string>> = {}): Promise<Heads> => {
    const response = await fetch(url + path, {
      method: "POST",
      headers: { "Content-Type": contentType, ...headers },
      body: body(request),
    });
    const text = await response.text();
    return { status: statusOf(response.status, text), headers: response.headers, trailers: new Headers() };
  };

const json = JSON.stringify;

const messageOf = (request: Plain) =>
  envelope(toBinary(AnalysisRequestSchema, fromJson(AnalysisRequestSchema, request as never)));

const grpc =
  (method: string) =>
  async (url: string, request: Plain, headers = {}) => {
    const binary = { "content-type": "application/grpc", ...headers };
    const got = await callGrpc(url, method, messageOf(request), binary);
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
  { name: "/v1/eval", ...http, ask: byFetch("/v1/eval", "application/json", json) },
  { name: "/v1/bestmove", ...http, ask: byFetch("/v1/bestmove", "application/json", json) },
  { name: "server-sent events", ...http, ask: byFetch("/v1/eval/stream", "application/json", json) },
  {
    name: "Connect",
    ...http,
    upgrade: 403,
    ask: byFetch(`${service}/Evaluate`, "application/json", json),
  },
  {
    name: "Connect's stream",
    ...http,
    upgrade: 403,
    errorsHaveHeaders: false,
    ask: byFetch(`${service}/StreamEvaluate`, "application/connect+json", enveloped, statusOfStream),
  },
  { name: "gRPC", ...grpcCodes, ask: grpc("Evaluate") },
  { name: "gRPC's stream", ...grpcCodes, ask: grpc("StreamEvaluate") },
];
