import { create, fromJson, toBinary, toJsonString } from "@bufbuild/protobuf";
import fc from "fast-check";
import { AnalysisRequestSchema } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import { EvaluateBatchRequestSchema } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { envelope } from "../../support/envelope.ts";
import { knownFens } from "../corpus.ts";
import { writtenJson } from "../written-json.ts";

/** A request. Each character of a string is one byte (latin1), so that people can read the corpus. */
export type FuzzedRequest =
  | {
      readonly over: "http1" | "http2";
      readonly method: string;
      readonly path: string;
      readonly headers: readonly (readonly [name: string, value: string])[];
      readonly body: string;
    }
  | { readonly over: "socket"; readonly bytes: string };

const latin1 = (bytes: Uint8Array) => Buffer.from(bytes).toString("latin1");
const analysis = "/chess.analysis.v1.AnalysisService/";
const calls = ["Evaluate", "FindBestMove", "StreamEvaluate", "EvaluateBatch", "ListEngines", "GetPrice"].map(
  (name) => analysis + name,
);
const keyCalls = ["CreateKey", "GetKey", "RevokeKey"].map((name) => `/chess.analysis.v1.KeyService/${name}`);
const jsonPaths = ["/v1/eval", "/v1/bestmove", "/v1/eval/stream", "/v1/eval/batch", "/v1/keys"];
const readPaths = [
  "/engines",
  "/v1/engines",
  "/price",
  "/v1/price",
  "/v1/keys/self",
  "/healthz",
  "/readyz",
  "/",
  "/problems",
  "/problems/not-found",
  "/docs",
  "/openapi.json",
  "/favicon.ico",
  "/metrics",
];

/** Removes, inserts or changes bytes. */
const byteEdits = fc.oneof(
  { weight: 3, arbitrary: fc.constant([]) },
  fc.array(
    fc.record({
      at: fc.nat(300),
      cut: fc.nat(4),
      put: fc.string({ unit: fc.nat(255).map((code) => String.fromCharCode(code)), maxLength: 4 }),
    }),
    { maxLength: 3 },
  ),
);
const edited = (bytes: fc.Arbitrary<string>) =>
  fc
    .tuple(bytes, byteEdits)
    .map(([text, edits]) =>
      edits.reduce((some, { at, cut, put }) => some.slice(0, at) + put + some.slice(at + cut), text),
    );

/** A request with low limits, so that the search is short. Half of these requests are valid. */
const soundRequest = fc.record(
  {
    fen: fc.constantFrom(...knownFens()),
    depth: fc.integer({ min: 1, max: 8 }),
    multipv: fc.integer({ min: 1, max: 4 }),
    movetime_ms: fc.constantFrom(50, 60, 100),
    nodes: fc.constantFrom(1, 1000, 50_000, 1_000_000_000),
    moves: fc.constantFrom<string[]>([], [], [], ["e2e4"], ["Nf3", "e7e5"], ["0000"]),
    search_moves: fc.constantFrom<string[]>([], [], ["e2e4"], ["Nf3", "d4", "Nf3"], ["0000"]),
    engine: fc.constantFrom("latest", "latest", "stockfish-19-lite", "stockfish-9", "__proto__"),
    options: fc.constantFrom<Record<string, string | number | boolean>>(
      {},
      {},
      { skill_level: 3 },
      { uci_chess960: true },
      { "Debug Log File": "/tmp/x" },
      { toString: 1 },
    ),
  },
  { requiredKeys: ["fen", "depth"] },
);

const jsonBody = edited(
  fc
    .oneof(
      { weight: 6, arbitrary: soundRequest.map((request) => JSON.stringify(request)) },
      { weight: 4, arbitrary: writtenJson.map(({ text }) => text) },
      fc.array(soundRequest, { maxLength: 3 }).map((requests) => JSON.stringify({ requests })),
      fc.string({ unit: "binary", maxLength: 40 }),
    )
    .map((text) => latin1(Buffer.from(text))),
);

const messageBytes = edited(
  fc.oneof(
    soundRequest.map((request) =>
      latin1(toBinary(AnalysisRequestSchema, fromJson(AnalysisRequestSchema, request))),
    ),
    fc
      .array(soundRequest, { maxLength: 3 })
      .map((requests) =>
        latin1(toBinary(EvaluateBatchRequestSchema, fromJson(EvaluateBatchRequestSchema, { requests }))),
      ),
    fc.constant(""),
    fc.uint8Array({ maxLength: 60 }).map(latin1),
  ),
);
const protoJson = edited(
  fc.oneof(
    soundRequest.map((request) =>
      latin1(Buffer.from(toJsonString(AnalysisRequestSchema, fromJson(AnalysisRequestSchema, request)))),
    ),
    writtenJson.map(({ text }) => latin1(Buffer.from(text))),
    fc.constant(toJsonString(AnalysisRequestSchema, create(AnalysisRequestSchema))),
  ),
);

/** A message in the envelope of gRPC and of Connect's streams. Some envelopes have a wrong length. */
const framed = (messages: fc.Arbitrary<string>) =>
  edited(
    fc
      .array(
        fc.tuple(
          messages,
          fc.constantFrom(0, 0, 0, 0, 1, 2, 128, 255),
          fc.constantFrom(0, 0, 0, 0, 0, 1, -1, 1000, 2 ** 31),
        ),
        { minLength: 1, maxLength: 2 },
      )
      .map((frames) =>
        frames
          .map(([message, flags, off]) => {
            const length = Math.max(0, message.length + off);
            return latin1(envelope(Buffer.from(message, "latin1"), flags, length));
          })
          .join(""),
      ),
  );

const visible = fc.string({
  unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
  maxLength: 20,
});
const types =
  "application/json|application/json; charset=utf-8|application/json;charset=latin1|application/proto|application/grpc|application/grpc+proto|application/grpc+json|application/grpc-web+proto|application/grpc-web-text|application/connect+json|application/connect+proto|text/plain|application/x-ndjson|text/event-stream|*/*|text/html".split(
    "|",
  );
const header = fc.oneof(
  fc.tuple(
    fc.constant("Accept"),
    fc.oneof(fc.constantFrom(...types, "application/json;q=0", "a/b;q=2,;"), visible),
  ),
  fc.tuple(fc.constant("Content-Type"), fc.oneof(fc.constantFrom(...types), visible)),
  fc.tuple(
    fc.constantFrom(
      "Content-Encoding",
      "Accept-Encoding",
      "Connect-Content-Encoding",
      "Grpc-Encoding",
      "Grpc-Accept-Encoding",
      "Connect-Accept-Encoding",
    ),
    fc.oneof(fc.constantFrom("gzip", "br", "deflate", "identity", "zstd", "gzip, br", "gzip;q=0"), visible),
  ),
  fc.tuple(
    fc.constant("Authorization"),
    fc.oneof(
      fc.constantFrom("Bearer", "Bearer kbz_x", `Bearer kbz_${"a".repeat(36)}`, "Basic YTpi", "bearer  x"),
      visible,
    ),
  ),
  fc.tuple(
    fc.constantFrom("Grpc-Timeout"),
    fc.oneof(fc.constantFrom("1n", "0S", "5S", "99999999H", "-1S", "1", "5x", "100000000S"), visible),
  ),
  fc.tuple(
    fc.constantFrom("Connect-Timeout-Ms"),
    fc.oneof(fc.constantFrom("0", "1", "5000", "-1", "99999999999", "1e3"), visible),
  ),
  fc.tuple(fc.constantFrom("Connect-Protocol-Version"), fc.constantFrom("1", "2", "")),
  fc.tuple(
    fc.constantFrom(
      "X-Request-Id",
      "Traceparent",
      "X-Forwarded-For",
      "Forwarded",
      "Origin",
      "If-None-Match",
      "Range",
      "Cookie",
      "Access-Control-Request-Method",
      "Referer",
      "X-Http-Method-Override",
    ),
    fc.oneof(
      fc.constantFrom(
        "*",
        '"x"',
        "1.2.3.4",
        "::1",
        "null",
        "https://a.example",
        "DELETE",
        `00-${"a".repeat(32)}-${"b".repeat(16)}-01`,
        "bytes=0-1",
      ),
      visible,
    ),
  ),
);
const headers = fc.oneof({ weight: 4, arbitrary: fc.constant([]) }, fc.array(header, { maxLength: 4 }));
const type = (value: string) => ["Content-Type", value] as const;
/** A later header replaces an earlier header of the same name. */
const withMore = (
  first: readonly (readonly [string, string])[],
  more: readonly (readonly [string, string])[],
) => [
  ...new Map(
    [...first, ...more].map(([name, value]) => [name.toLowerCase(), [name, value] as const]),
  ).values(),
];

const method = fc.constantFrom(
  "GET",
  "HEAD",
  "POST",
  "PUT",
  "DELETE",
  "OPTIONS",
  "PATCH",
  "PROPFIND",
  "TRACE",
);
const wildPath = fc.oneof(
  fc.constantFrom(...jsonPaths, ...readPaths, ...calls, ...keyCalls),
  fc
    .tuple(
      fc.constantFrom(...jsonPaths, ...readPaths, ...calls),
      fc.constantFrom(
        "/",
        "?",
        "?a=b",
        "?depth=20&depth=1",
        "?depth=x&multipv=-1",
        "%2f",
        "/../engines",
        "//",
        "?%",
        "?connect=v1&encoding=json&message=%7B%7D",
        "?encoding=proto&base64=1&message=!!",
      ),
    )
    .map((two) => two.join("")),
  fc
    .array(fc.oneof(visible, fc.constantFrom("..", ".", "%00", "%ff", "v1", "constructor", "__proto__")), {
      maxLength: 4,
    })
    .map((parts) => `/${parts.join("/")}`),
);

const plainCall = fc.record({
  over: fc.constantFrom("http1" as const, "http2" as const),
  method: fc.oneof({ weight: 12, arbitrary: fc.constant("POST") }, method),
  path: fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom(...jsonPaths.slice(0, 4)) },
    fc.constant("/v1/keys"),
  ),
  headers: headers.map((more) => withMore([type("application/json")], more)),
  body: jsonBody,
});

const formOf = (name: string, bodies: fc.Arbitrary<string>) => fc.tuple(fc.constant(type(name)), bodies);
const unaryForms = [formOf("application/json", protoJson), formOf("application/proto", messageBytes)];
const streamForms = [
  formOf("application/connect+json", framed(protoJson)),
  formOf("application/connect+proto", framed(messageBytes)),
];
const webForms = [
  formOf("application/grpc-web+proto", framed(messageBytes)),
  formOf(
    "application/grpc-web-text",
    framed(messageBytes).map((text) => btoa(text)),
  ),
];
const isStream = (path: string) => /Stream|Batch/.test(path);

const connectCall = fc
  .record({
    over: fc.constantFrom("http1" as const, "http2" as const),
    call: fc.constantFrom(...calls, ...keyCalls.slice(1)).chain((path) => {
      const fitting = isStream(path) ? streamForms : unaryForms;
      const form = fc.oneof(...fitting, ...fitting, ...webForms, ...streamForms, ...unaryForms);
      return fc.tuple(fc.constant(path), form);
    }),
    more: headers,
  })
  .map(({ over, call: [path, [type, body]], more }) => ({
    over,
    method: "POST",
    path,
    headers: withMore([type], more),
    body,
  }));

const grpcCall = fc
  .record({
    path: fc.constantFrom(...calls, ...calls, ...keyCalls.slice(1)),
    type: fc.constantFrom(
      "application/grpc",
      "application/grpc+proto",
      "application/grpc",
      "application/grpc+json",
      "application/grpc+x",
    ),
    body: fc.oneof({ weight: 4, arbitrary: framed(messageBytes) }, framed(protoJson), messageBytes),
    more: headers,
  })
  .map(({ path, type: name, body, more }) => ({
    over: "http2" as const,
    method: "POST",
    path,
    headers: withMore([type(name), ["TE", "trailers"]], more),
    body,
  }));

const wildCall = fc.record({
  over: fc.constantFrom("http1" as const, "http2" as const),
  method,
  path: wildPath,
  headers: headers.map((more) => withMore([], more)),
  body: fc.oneof({ weight: 2, arbitrary: fc.constant("") }, jsonBody),
});

/** The bytes of an HTTP/1.1 request, with some changed bytes. */
const socketCall = edited(
  fc
    .record({
      method,
      path: wildPath,
      headers,
      body: jsonBody,
      length: fc.constantFrom(0, 0, 0, 1, -1, 100_000),
    })
    .map(({ method, path, headers, body, length }) => {
      const lines = [...headers, ["Content-Length", String(Math.max(0, body.length + length))]].map(
        ([name, value]) => `${name}: ${value}\r\n`,
      );
      return `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${lines.join("")}Connection: close\r\n\r\n${body}`;
    }),
).map((bytes) => ({ over: "socket" as const, bytes }));

export const fuzzedRequest: fc.Arbitrary<FuzzedRequest> = fc.oneof(
  { weight: 5, arbitrary: plainCall },
  { weight: 3, arbitrary: connectCall },
  { weight: 3, arbitrary: grpcCall },
  { weight: 2, arbitrary: wildCall },
  { weight: 1, arbitrary: socketCall },
);
