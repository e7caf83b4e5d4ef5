import { equal, match, ok } from "node:assert/strict";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { fromBinary } from "@bufbuild/protobuf";
import { findTrailerError } from "@connectrpc/connect/protocol-grpc";
import { type ErrorInfo, ErrorInfoSchema } from "../../../gen/google/rpc/error_details_pb.ts";
import { statuses } from "../../contract/protocols/statuses.ts";
import { envelopesIn } from "../../support/envelope.ts";
import type { FuzzedRequest } from "./fuzzed-request.ts";
import type { Reply } from "./send-request.ts";

/** The values of `next_action` that the documentation lists. */
const nextActions = [
  "fix_request",
  "send_suggested_request",
  "list_engines",
  "use_auto_path",
  "get_api_key",
  "check_api_key",
  "reduce_limits",
  "retry_later",
  "contact_operator",
  "send_to_eval",
];

/** The names of the gRPC statuses. The index of a name is the number of the status. */
const grpcCodes =
  "ok canceled unknown invalid_argument deadline_exceeded not_found already_exists permission_denied resource_exhausted failed_precondition aborted out_of_range unimplemented internal unavailable data_loss unauthenticated".split(
    " ",
  );

/** 5xx statuses that are not bugs. 501 is the response to an unknown call. The documentation describes 503 and 504. */
const expectedServerErrors = [501, 503, 504];

/** Throws if the response breaks a promise of the documentation. Returns the error code of an error response. */
export function checkReply(request: FuzzedRequest, reply: Reply): string | undefined {
  const { status, headers } = reply;
  if (status === 0) {
    // A client gets no response if it sends an incomplete request or does not use HTTP.
    ok(request.over === "socket" && reply.body.length === 0, "an answer that is no HTTP");
    return undefined;
  }
  ok(status < 500 || expectedServerErrors.includes(status), `status ${status}: ${reply.body}`);
  if (!reply.complete && request.over === "socket") {
    return "broken off";
  }
  ok(reply.complete, `the answer ${status} broke off`);
  const body = inflated(reply.body, headers["content-encoding"]);
  const media = headers["content-type"]?.split(";")[0] ?? "";
  const isHead = request.over !== "socket" ? request.method === "HEAD" : request.bytes.startsWith("HEAD");
  if (media.startsWith("application/grpc")) {
    return checkGrpc(media, reply);
  }
  if (status < 400) {
    if (media === "application/connect+json" || media === "application/connect+proto") {
      return checkConnectStream(body, headers["connect-content-encoding"]);
    }
    if (media === "application/json" && !isHead) {
      JSON.parse(body.toString());
    }
    return media === "text/event-stream" ? checkEvents(body.toString()) : undefined;
  }
  if (isHead) {
    return "head";
  }
  if (media === "application/problem+json") {
    return checkProblem(status, JSON.parse(body.toString()));
  }
  equal(media, "application/json", `${status} with ${media}: ${body}`);
  return checkConnectError(JSON.parse(body.toString()), status);
}

interface ProblemText {
  readonly type: string;
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly next_action: string;
  readonly request_id: string;
  readonly errors: readonly { readonly pointer: string; readonly code: string; readonly message: string }[];
}

function checkProblem(status: number | undefined, problem: ProblemText): string {
  const { code } = problem;
  const row = statuses[code];
  ok(row !== undefined && code !== "internal", `the code ${code}`);
  equal(problem.status, row[0]);
  equal(status ?? row[0], row[0]);
  equal(problem.type, `/problems/${code.replaceAll("_", "-")}`);
  ok(nextActions.includes(problem.next_action), `next_action ${problem.next_action}`);
  ok(problem.detail.length > 0 && problem.detail.length < 2000, problem.detail);
  match(problem.request_id, /^[!-~]{1,128}$/);
  ok(problem.errors.length <= 20, `${problem.errors.length} faults`);
  for (const violation of problem.errors) {
    ok(violation.pointer === "" || violation.pointer.startsWith("/"), violation.pointer);
    ok(violation.message.length > 0 && violation.message.length < 1000, violation.message);
  }
  return code;
}

interface ConnectErrorText {
  readonly code: string;
  readonly message?: string;
  readonly details?: readonly { readonly type: string; readonly value: string }[];
}

function checkConnectError(error: ConnectErrorText, status?: number): string {
  const detail = error.details?.find(({ type }) => type === "google.rpc.ErrorInfo");
  ok(detail, `a Connect error without ErrorInfo: ${JSON.stringify(error)}`);
  const code = checkInfo(fromBinary(ErrorInfoSchema, Buffer.from(detail.value, "base64")), error.code);
  ok(status === undefined || status >= 400);
  return code;
}

function checkInfo({ domain, reason, metadata }: ErrorInfo, rpcCode: string | undefined): string {
  equal(domain, "kibitz");
  const { code = "", next_action = "" } = metadata;
  equal(reason, code.toUpperCase());
  const row = statuses[code];
  ok(row !== undefined && code !== "internal", `the code ${code}`);
  ok(nextActions.includes(next_action), `next_action ${next_action}`);
  // gRPC and Connect require this code if a message is missing or if the compression is unknown.
  const byProtocol =
    rpcCode === "unimplemented" && ["malformed_http", "unsupported_media_type"].includes(code);
  ok(rpcCode === row[1] || byProtocol, `${code} as ${rpcCode}`);
  return code;
}

/** Returns the error code in the last frame of a Connect stream. Returns undefined if the stream ends without an error. */
function checkConnectStream(body: Buffer, encoding: string | undefined): string | undefined {
  const frames = framesOf(body, encoding);
  const last = frames.at(-1);
  ok(last && (last.flags & 2) === 2, "a stream of Connect without its end");
  const { error } = JSON.parse(last.bytes.toString()) as { error?: ConnectErrorText };
  return error && checkConnectError(error);
}

function checkGrpc(media: string, reply: Reply): string | undefined {
  const { status, headers, trailers } = reply;
  equal(status, 200);
  const body = media.startsWith("application/grpc-web-text")
    ? Buffer.from(reply.body.toString("latin1"), "base64")
    : reply.body;
  const inBody = media.startsWith("application/grpc-web")
    ? framesOf(body, headers["grpc-encoding"]).findLast(({ flags }) => (flags & 128) === 128)
    : undefined;
  const lines =
    inBody?.bytes
      .toString("latin1")
      .split("\r\n")
      .filter((line) => line !== "") ?? [];
  const fromBody = Object.fromEntries(
    lines.map((line) => [
      line.slice(0, line.indexOf(":")).toLowerCase(),
      line.slice(line.indexOf(":") + 1).trim(),
    ]),
  );
  const all = { ...headers, ...trailers, ...fromBody };
  const number = Number(all["grpc-status"] ?? Number.NaN);
  const rpcCode = grpcCodes[number];
  ok(rpcCode !== undefined, `grpc-status ${all["grpc-status"]}`);
  if (number === 0) {
    return undefined;
  }
  const error = findTrailerError(new Headers(all));
  const [info] = error?.findDetails(ErrorInfoSchema) ?? [];
  ok(info, `grpc-status ${number} without ErrorInfo: ${all["grpc-message"]}`);
  return checkInfo(info, rpcCode);
}

function framesOf(
  body: Buffer,
  encoding: string | undefined,
): readonly { readonly flags: number; readonly bytes: Buffer }[] {
  return envelopesIn(body).map(({ flags, bytes }) => ({
    flags,
    bytes: (flags & 1) === 1 ? inflated(bytes, encoding) : bytes,
  }));
}

function inflated(bytes: Buffer, encoding = "identity"): Buffer {
  switch (encoding) {
    case "gzip":
      return bytes.length > 0 ? gunzipSync(bytes) : bytes;
    case "br":
      return bytes.length > 0 ? brotliDecompressSync(bytes) : bytes;
    default:
      equal(encoding, "identity");
      return bytes;
  }
}

/** Expects queue positions, then evaluations, and then one final event. */
function checkEvents(text: string): string | undefined {
  const names = [...text.matchAll(/^event: (\w+)$/gm)].map(([, name]) => name);
  ok(/^(queued,)*(evaluation,)*(done|error)$/.test(names.join()), `events: ${names}`);
  const last = names.at(-1);
  const data = /^data: (.*)$/m.exec(text.slice(text.lastIndexOf("event:")))?.[1] ?? "";
  return last === "error" ? checkProblem(undefined, JSON.parse(data)) : undefined;
}
