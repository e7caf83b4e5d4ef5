import { gunzipSync } from "node:zlib";
import type { JsonObject } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { codeToString, errorFromJson } from "@connectrpc/connect/protocol-connect";
import { findTrailerError } from "@connectrpc/connect/protocol-grpc";
import { describe, expect, test } from "vitest";
import { BadRequestSchema, ErrorInfoSchema } from "../../../gen/google/rpc/error_details_pb.ts";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { envelope, envelopesIn } from "../../support/envelope.ts";
import { useApp } from "../../support/running-app.ts";
import { callGrpc } from "./call-grpc.ts";
import { startFen } from "./cases/case.ts";

const app = useApp({}, { engines: createEnginesInProcess() });
const service = "/chess.analysis.v1.AnalysisService";

interface Protocol {
  readonly name: string;
  readonly timeout: string;
  readonly encoding: string;
  send(message: Buffer, json: boolean, headers: Readonly<Record<string, string>>): Promise<ConnectError>;
}

const suffix = (json: boolean) => (json ? "json" : "proto");

const unary: Protocol = {
  name: "Connect",
  timeout: "Connect-Timeout-Ms",
  encoding: "Content-Encoding",
  async send(body, json, headers) {
    const answer = await fetch(`${app.url}${service}/Evaluate`, {
      method: "POST",
      headers: { "Content-Type": `application/${suffix(json)}`, ...headers },
      body,
    });
    return errorFromJson((await answer.json()) as JsonObject, undefined, new ConnectError("unreadable"));
  },
};

const stream: Protocol = {
  name: "Connect, streaming",
  timeout: "Connect-Timeout-Ms",
  encoding: "Connect-Content-Encoding",
  async send(message, json, headers) {
    const answer = await fetch(`${app.url}${service}/StreamEvaluate`, {
      method: "POST",
      headers: { "Content-Type": `application/connect+${suffix(json)}`, ...headers },
      body: envelope(message, flagsOf(headers[this.encoding])),
    });
    const { error } = JSON.parse(lastEnvelope(Buffer.from(await answer.arrayBuffer())));
    return errorFromJson(error, undefined, new ConnectError("unreadable"));
  },
};

const grpcWebTo = (call: string): Protocol => ({
  name: `gRPC-Web, ${call}`,
  timeout: "grpc-timeout",
  encoding: "grpc-encoding",
  async send(message, json, headers) {
    const answer = await fetch(`${app.url}${service}/${call}`, {
      method: "POST",
      headers: { "Content-Type": `application/grpc-web+${suffix(json)}`, ...headers },
      body: envelope(message, flagsOf(headers[this.encoding])),
    });
    const lines = lastEnvelope(Buffer.from(await answer.arrayBuffer()))
      .trim()
      .split("\r\n");
    return trailerError(
      new Headers(
        lines.map((line): [string, string] => [
          line.slice(0, line.indexOf(":")),
          line.slice(line.indexOf(":") + 1),
        ]),
      ),
    );
  },
});

const grpcTo = (call: string): Protocol => ({
  name: `gRPC, ${call}`,
  timeout: "grpc-timeout",
  encoding: "grpc-encoding",
  async send(message, json, headers) {
    const body = envelope(message, flagsOf(headers[this.encoding]));
    const type = { "content-type": `application/grpc+${suffix(json)}` };
    const { trailers } = await callGrpc(app.url, call, body, { ...type, ...headers });
    return trailerError(new Headers(Object.entries(trailers) as [string, string][]));
  },
});

const protocols = [
  unary,
  stream,
  ...["Evaluate", "StreamEvaluate"].flatMap((call) => [grpcTo(call), grpcWebTo(call)]),
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
    (p) => p.send(asJson({ fen: startFen, "dé%3Aph": 3 }), true, id),
    "invalid_argument",
    "unknown_field",
    ["dé%3Aph"],
    /^There is no field `dé%3Aph` in AnalysisRequest\.$/,
  ],
  [
    "text for a number",
    (p) => p.send(asJson({ fen: startFen, depth: "deep" }), true, id),
    "invalid_argument",
    "invalid_type",
    ["depth"],
    /^`depth` cannot be read: .*"deep"\.$/,
  ],
  [
    "an unknown enum value",
    (p) => p.send(asJson({ fen: startFen, path: "PATH_GPU" }), true, id),
    "invalid_argument",
    "out_of_range",
    ["path"],
    /^`path` must be one of PATH_UNSPECIFIED, .*, not "PATH_GPU"\.$/,
  ],
  [
    "broken JSON",
    (p) => p.send(Buffer.from('{"fen":'), true, id),
    "invalid_argument",
    "malformed_json",
    [],
    /^The call cannot be read: cannot decode message .*AnalysisRequest from JSON.*\.$/,
  ],
  [
    "a repeated key",
    (p) => p.send(Buffer.from('{"fen":"x","fen":"y"}'), true, id),
    "invalid_argument",
    "malformed_json",
    [],
    /"fen"\.$/,
  ],
  [
    "JSON that is not an object",
    (p) => p.send(Buffer.from("[]"), true, id),
    "invalid_argument",
    "malformed_json",
    [],
    /^The call cannot be read: cannot decode message .*AnalysisRequest from JSON.*\.$/,
  ],
  [
    "bytes that are not a message",
    (p) => p.send(Buffer.from([0x0a, 0xff]), false, id),
    "invalid_argument",
    "invalid_type",
    [],
    /^The call cannot be read: parse binary: .*\.$/,
  ],
  [
    "a message that is too large",
    (p) => p.send(asJson({ fen: "x".repeat(70_000) }), true, id),
    "resource_exhausted",
    "body_too_large",
    [],
    /^The message is larger than 65536 bytes/,
  ],
  [
    "an invalid timeout",
    (p) => p.send(asJson({ fen: startFen }), true, { ...id, [p.timeout]: "soon" }),
    "invalid_argument",
    "malformed_http",
    [],
    /^The call cannot be read: .*soon\.$/,
  ],
  [
    "an unknown encoding",
    (p) => p.send(asJson({ fen: startFen }), true, { ...id, [p.encoding]: "zstd" }),
    "unimplemented",
    "unsupported_media_type",
    [],
    /^The call cannot be read: unknown compression "zstd": supported encodings are gzip.*\.$/,
  ],
  [
    "a message with a wrong encoding header",
    (p) => p.send(asJson({ fen: startFen }), true, { ...id, [p.encoding]: "gzip" }),
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
    const error = await protocol.send(asJson({ fen: startFen }), true, headers);
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
    const error = await protocol.send(Buffer.from('{"fen":'), true, headers);
    const [info] = error.findDetails(ErrorInfoSchema);
    expect(["deadline_exceeded", "malformed_json"]).toContain(info?.metadata.code);
    expect(info?.metadata.request_id).toBe("mine");
  },
);
