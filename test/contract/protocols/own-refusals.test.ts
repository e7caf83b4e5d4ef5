import { gunzipSync } from "node:zlib";
import type { DescMethod } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { codeToString, errorFromJson } from "@connectrpc/connect/protocol-connect";
import { findTrailerError } from "@connectrpc/connect/protocol-grpc";
import { describe, expect, test } from "vitest";
import { AnalysisService } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { BadRequestSchema, ErrorInfoSchema } from "../../../gen/google/rpc/error_details_pb.ts";
import { type Codec, encodeCall, type RpcProtocol } from "../../support/encode-call.ts";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { envelopesIn } from "../../support/envelope.ts";
import { useApp } from "../../support/running-app.ts";
import { callGrpc } from "./call-grpc.ts";
import { startFen } from "./cases/case.ts";

const app = useApp({}, { engines: createEnginesInProcess() });
const { evaluate, streamEvaluate } = AnalysisService.method;

interface Protocol {
  readonly name: string;
  readonly timeout: string;
  readonly encoding: string;
  send(message: Buffer, codec: Codec, headers: Readonly<Record<string, string>>): Promise<ConnectError>;
}

/** Names the header of the deadline, and the header that says how a message is compressed. */
const fieldsOf = {
  connect: { timeout: "Connect-Timeout-Ms", encoding: "Connect-Content-Encoding" },
  grpc: { timeout: "grpc-timeout", encoding: "grpc-encoding" },
  "grpc-web": { timeout: "grpc-timeout", encoding: "grpc-encoding" },
};

function overHttp1(
  name: string,
  protocol: RpcProtocol,
  method: DescMethod,
  errorIn: (body: Buffer) => ConnectError,
  fields = fieldsOf[protocol],
): Protocol {
  return {
    name,
    ...fields,
    async send(message, codec, headers) {
      const flags = flagsOf(headers[fields.encoding]);
      const { path, contentType, body } = encodeCall(protocol, codec, method, message, flags);
      const init = { method: "POST", headers: { "Content-Type": contentType, ...headers }, body };
      return errorIn(Buffer.from(await (await fetch(app.url + path, init)).arrayBuffer()));
    },
  };
}

const connectError = (json: string) =>
  errorFromJson(JSON.parse(json), undefined, new ConnectError("unreadable"));

const unary = overHttp1("Connect", "connect", evaluate, (body) => connectError(String(body)), {
  ...fieldsOf.connect,
  encoding: "Content-Encoding",
});

const stream = overHttp1("Connect, streaming", "connect", streamEvaluate, (body) =>
  connectError(JSON.stringify(JSON.parse(lastEnvelope(body)).error)),
);

const grpcWebTo = (method: DescMethod) =>
  overHttp1(`gRPC-Web, ${method.name}`, "grpc-web", method, (body) => {
    const lines = lastEnvelope(body).trim().split("\r\n");
    return trailerError(
      new Headers(
        lines.map((line): [string, string] => [
          line.slice(0, line.indexOf(":")),
          line.slice(line.indexOf(":") + 1),
        ]),
      ),
    );
  });

const grpcTo = (method: DescMethod): Protocol => ({
  name: `gRPC, ${method.name}`,
  ...fieldsOf.grpc,
  async send(message, codec, headers) {
    const flags = flagsOf(headers[fieldsOf.grpc.encoding]);
    const { contentType, body } = encodeCall("grpc", codec, method, message, flags);
    const typed = { "content-type": contentType, ...headers };
    const { trailers } = await callGrpc(app.url, method.name, body, typed);
    return trailerError(new Headers(Object.entries(trailers) as [string, string][]));
  },
});

const protocols = [
  unary,
  stream,
  ...[evaluate, streamEvaluate].flatMap((method) => [grpcTo(method), grpcWebTo(method)]),
];

/** Returns the flags of an envelope. The lowest bit marks a compressed message. */
const flagsOf = (encoding: string | undefined) => (encoding === undefined ? 0 : 1);

function lastEnvelope(body: Buffer): string {
  const { flags, bytes } = envelopesIn(body).at(-1) ?? expect.fail("an empty body");
  return ((flags & 1) === 1 ? gunzipSync(bytes) : bytes).toString();
}

function trailerError(trailer: Headers): ConnectError {
  const message = trailer.get("grpc-message") ?? "";
  const error = findTrailerError(trailer) ?? expect.fail("no error");
  // grpc-js decodes the message in the same way.
  expect(decodeURI(message)).toBe(error.rawMessage);
  return error;
}

type Wrong = [
  name: string,
  send: (protocol: Protocol) => Promise<ConnectError>,
  rpc: string,
  code: string,
  fields: readonly string[],
  message: RegExp,
];

const id = { "X-Request-Id": "mine" };
const asJson = (value: unknown) => Buffer.from(JSON.stringify(value));

const wrongs: readonly Wrong[] = [
  [
    "an unknown field",
    (p) => p.send(asJson({ fen: startFen, "dé%3Aph": 3 }), "json", id),
    "invalid_argument",
    "unknown_field",
    ["dé%3Aph"],
    /^There is no field `dé%3Aph` in AnalysisRequest\.$/,
  ],
  [
    "text for a number",
    (p) => p.send(asJson({ fen: startFen, depth: "deep" }), "json", id),
    "invalid_argument",
    "invalid_type",
    ["depth"],
    /^`depth` cannot be read: .*"deep"\.$/,
  ],
  [
    "an unknown enum value",
    (p) => p.send(asJson({ fen: startFen, path: "PATH_GPU" }), "json", id),
    "invalid_argument",
    "out_of_range",
    ["path"],
    /^`path` must be one of PATH_UNSPECIFIED, .*, not "PATH_GPU"\.$/,
  ],
  [
    "broken JSON",
    (p) => p.send(Buffer.from('{"fen":'), "json", id),
    "invalid_argument",
    "malformed_json",
    [],
    /^The call cannot be read: cannot decode message .*AnalysisRequest from JSON.*\.$/,
  ],
  [
    "a repeated key",
    (p) => p.send(Buffer.from('{"fen":"x","fen":"y"}'), "json", id),
    "invalid_argument",
    "malformed_json",
    [],
    /"fen"\.$/,
  ],
  [
    "JSON that is not an object",
    (p) => p.send(Buffer.from("[]"), "json", id),
    "invalid_argument",
    "malformed_json",
    [],
    /^The call cannot be read: cannot decode message .*AnalysisRequest from JSON.*\.$/,
  ],
  [
    "bytes that are not a message",
    (p) => p.send(Buffer.from([0x0a, 0xff]), "proto", id),
    "invalid_argument",
    "invalid_type",
    [],
    /^The call cannot be read: parse binary: .*\.$/,
  ],
  [
    "a message that is too large",
    (p) => p.send(asJson({ fen: "x".repeat(70_000) }), "json", id),
    "resource_exhausted",
    "body_too_large",
    [],
    /^The message is larger than 65536 bytes/,
  ],
  [
    "an invalid timeout",
    (p) => p.send(asJson({ fen: startFen }), "json", { ...id, [p.timeout]: "soon" }),
    "invalid_argument",
    "malformed_http",
    [],
    /^The call cannot be read: .*soon\.$/,
  ],
  [
    "an unknown encoding",
    (p) => p.send(asJson({ fen: startFen }), "json", { ...id, [p.encoding]: "zstd" }),
    "unimplemented",
    "unsupported_media_type",
    [],
    /^The call cannot be read: unknown compression "zstd": supported encodings are gzip.*\.$/,
  ],
  [
    "a message with a wrong encoding header",
    (p) => p.send(asJson({ fen: startFen }), "json", { ...id, [p.encoding]: "gzip" }),
    "invalid_argument",
    "malformed_http",
    [],
    /^The call cannot be read: decompression failed\.$/,
  ],
];

describe.each(protocols)("an error of the Connect library over $name", (protocol) => {
  test.each(wrongs)(
    "an error that the Connect library creates has the usual error details: %s",
    async (_, send, rpc, code, fields, message) => {
      const error = await send(protocol);
      expect(error.rawMessage).toMatch(message);
      expect(codeToString(error.code)).toBe(rpc);
      expect(error.findDetails(ErrorInfoSchema)).toMatchObject([
        {
          domain: "kibitz",
          reason: code.toUpperCase(),
          metadata: { code, next_action: "fix_request", request_id: "mine" },
        },
      ]);
      const violations = error
        .findDetails(BadRequestSchema)
        .flatMap(({ fieldViolations }) => fieldViolations);
      expect(violations.map(({ field }) => field)).toEqual(fields);
    },
  );
});

test.each(protocols.filter((protocol) => protocol !== unary))(
  "a compressed message without an encoding header is refused as an invalid argument: $name",
  async (protocol) => {
    const headers = { ...id, [protocol.encoding]: "identity" };
    const error = await protocol.send(asJson({ fen: startFen }), "json", headers);
    expect(error.rawMessage).toMatch(/^The call cannot be read: received compressed envelope/);
    expect(codeToString(error.code)).toBe("invalid_argument");
    expect(error.findDetails(ErrorInfoSchema)).toMatchObject([
      { metadata: { code: "malformed_http", next_action: "fix_request", request_id: "mine" } },
    ]);
  },
);

test.each(protocols)(
  "broken JSON gets the usual error details even after the deadline: $name",
  async (protocol) => {
    const headers = { ...id, [protocol.timeout]: protocol.timeout.startsWith("Connect") ? "0" : "0S" };
    const error = await protocol.send(Buffer.from('{"fen":'), "json", headers);
    const [info] = error.findDetails(ErrorInfoSchema);
    expect(["deadline_exceeded", "malformed_json"]).toContain(info?.metadata.code);
    expect(info?.metadata.request_id).toBe("mine");
  },
);
