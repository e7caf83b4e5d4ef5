import { gzipSync } from "node:zlib";
import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { AnalysisService } from "../../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { GameService } from "../../../../gen/chess/analysis/v1/game_service_pb.ts";
import { KeyService } from "../../../../gen/chess/analysis/v1/key_service_pb.ts";
import { enveloped, type WireRequest } from "./ask.ts";

/** A request, and the status that its answer ends with. */
export type WireCase = readonly [name: string, request: WireRequest, status: string];

const { input } = AnalysisService.method.evaluate;
const pathOf = (call: string) => `/${AnalysisService.typeName}/${call}`;
const keyPathOf = (call: string) => `/${KeyService.typeName}/${call}`;

const startFen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
const bytesOf = (request: MessageInitShape<typeof input>) => toBinary(input, create(input, request));
const short = bytesOf({ fen: startFen, depth: 3 });
const long = bytesOf({ fen: startFen, depth: 4, multipv: 10 });
const endless = bytesOf({ fen: startFen, depth: 18 });

const knightsOut = (_: unknown, ply: number) => ["Nf3", "Nf6", "Ng1", "Ng8"][ply % 4] ?? "";

interface Given {
  readonly call?: string;
  readonly headers?: WireRequest["headers"];
  readonly body?: readonly Uint8Array[];
}

function ask({ call = "Evaluate", headers = {}, body = [enveloped(short)] }: Given = {}): WireRequest {
  return { path: pathOf(call), headers, body };
}

const message = (request: MessageInitShape<typeof input>, call = "Evaluate") =>
  ask({ call, body: [enveloped(bytesOf(request))] });

const withHeader = (name: string, value: string, body = long, call = "Evaluate") =>
  ask({ call, headers: { [name]: value }, body: [enveloped(body)] });

/** Whose answer is long enough to be packed. */
const engines = (accepted: string): WireRequest => ({
  path: pathOf("ListEngines"),
  headers: { "grpc-accept-encoding": accepted },
  body: [enveloped(Buffer.of())],
});

/** Of one field that no message has, as a varint. */
const unknownField = Buffer.of(0xf8, 0x7f, 1);

const { input: reviewInput } = GameService.method.reviewGame;

const review = (request: MessageInitShape<typeof reviewInput>): WireRequest => ({
  path: `/${GameService.typeName}/ReviewGame`,
  body: [enveloped(toBinary(reviewInput, create(reviewInput, request)))],
});

export const good: readonly WireCase[] = [
  ["an evaluation", ask(), "0"],
  ["a best move", ask({ call: "FindBestMove" }), "0"],
  ["a review", review({ pgn: "1. f3 e5 2. g4 Qh4#", depth: 3 }), "0"],
  ["a stream of evaluations", ask({ call: "StreamEvaluate" }), "0"],
  ["a position that is mate", message({ fen: "7k/6Q1/6K1/8/8/8/8/8 b - - 0 1" }), "0"],
  [
    "a stream of a position that is mate",
    message({ fen: "7k/6Q1/6K1/8/8/8/8/8 b - - 0 1" }, "StreamEvaluate"),
    "0",
  ],
  ["an empty message", { path: pathOf("ListEngines"), body: [enveloped(Buffer.of())] }, "0"],
  ["a price", { path: pathOf("GetPrice"), body: [enveloped(Buffer.of())] }, "0"],
  ["a message of many lines", ask({ body: [enveloped(long)] }), "0"],
  ["a field that is not known", ask({ body: [enveloped(Buffer.concat([short, unknownField]))] }), "0"],
  [
    "a message in two parts",
    ask({ body: [enveloped(short).subarray(0, 9), enveloped(short).subarray(9)] }),
    "0",
  ],
  [
    "a message byte by byte at first",
    ask({
      body: [
        ...Array.from(enveloped(short).subarray(0, 6), (byte) => Buffer.of(byte)),
        enveloped(short).subarray(6),
      ],
    }),
    "0",
  ],
  ["gzip in the answer", engines("gzip"), "0"],
  ["gzip in a short answer", withHeader("grpc-accept-encoding", "gzip", short), "0"],
  ["what grpc-js accepts", engines("identity,deflate,gzip"), "0"],
  ["brotli before gzip", engines("br, gzip"), "0"],
  ["gzip in a stream", withHeader("grpc-accept-encoding", "gzip", long, "StreamEvaluate"), "0"],
  ["nothing accepted that there is", engines("snappy"), "0"],
  ["nothing accepted", engines(""), "0"],
  ["identity said aloud", withHeader("grpc-encoding", "identity"), "0"],
  [
    "a message in gzip",
    ask({ headers: { "grpc-encoding": "gzip" }, body: [enveloped(gzipSync(short), 1)] }),
    "0",
  ],
  ["a message in gzip in name only", ask({ headers: { "grpc-encoding": "gzip" } }), "0"],
  [
    "a message in gzip for a stream",
    ask({
      call: "StreamEvaluate",
      headers: { "grpc-encoding": "gzip" },
      body: [enveloped(gzipSync(short), 1)],
    }),
    "0",
  ],
  ["ten seconds of time", withHeader("grpc-timeout", "10S"), "0"],
  ["years of time", withHeader("grpc-timeout", "99999999H"), "0"],
  ["a trace", withHeader("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"), "0"],
  ["an origin", withHeader("origin", "https://example.org"), "0"],
  ["a query behind the path", { ...ask(), path: `${pathOf("Evaluate")}?depth=3` }, "0"],
  [
    "a batch",
    {
      path: pathOf("EvaluateBatch"),
      body: [enveloped(Buffer.concat([Buffer.of(0x0a, short.length), short]))],
    },
    "0",
  ],
];

export const bad: readonly WireCase[] = [
  ["no game", review({}), "3"],
  ["a game with an illegal move, with a suggestion", review({ pgn: "1. e4 e5 2. Ke3", depth: 3 }), "3"],
  [
    "a game that is longer than the plan has",
    review({ moves: Array.from({ length: 124 }, knightsOut) }),
    "7",
  ],
  ["a review that is long for its moves", review({ moves: Array.from({ length: 40_000 }, () => "") }), "8"],
  ["no position", message({}), "3"],
  ["no position for a stream", message({}, "StreamEvaluate"), "3"],
  ["a position that is none", message({ fen: "king vs queen" }), "3"],
  ["a depth out of range, with a suggestion", message({ fen: startFen, depth: 99 }), "3"],
  ["the same for a stream", message({ fen: startFen, depth: 99 }, "StreamEvaluate"), "3"],
  ["many faults at once", message({ fen: "", depth: 99, multipv: 99, movetimeMs: 1, moves: ["e9e9"] }), "3"],
  ["a move that is illegal", message({ fen: startFen, moves: ["e2e5"] }), "3"],
  ["an engine that there is not", message({ fen: startFen, engine: "stockfish-1" }), "3"],
  ["more than the plan has", message({ fen: startFen, depth: 20 }), "7"],
  ["more than the plan has for a stream", message({ fen: startFen, depth: 20 }, "StreamEvaluate"), "7"],
  ["a key that is none", withHeader("authorization", "Bearer kbz_none"), "16"],
  ["a credential of another kind", withHeader("authorization", "Basic bm9uZQ=="), "16"],
  ["a call that needs a key", { path: keyPathOf("GetKey"), body: [enveloped(Buffer.of())] }, "16"],
  ["no time at all", withHeader("grpc-timeout", "0n", endless), "4"],
  ["too little time", withHeader("grpc-timeout", "60m", endless), "4"],
  ["too little time for a stream", withHeader("grpc-timeout", "60m", endless, "StreamEvaluate"), "4"],
  ["a time that cannot be read", withHeader("grpc-timeout", "soon"), "3"],
  ["a time with too many digits", withHeader("grpc-timeout", "123456789m"), "3"],
  [
    "an encoding that there is not",
    ask({ headers: { "grpc-encoding": "snappy" }, body: [enveloped(short, 1)] }),
    "12",
  ],
  ["packed, and no encoding named", ask({ body: [enveloped(gzipSync(short), 1)] }), "3"],
  [
    "packed, and identity named",
    ask({ headers: { "grpc-encoding": "identity" }, body: [enveloped(gzipSync(short), 1)] }),
    "3",
  ],
  ["gzip that is none", ask({ headers: { "grpc-encoding": "gzip" }, body: [enveloped(short, 1)] }), "3"],
];

const zeros = (bytes: number) => Buffer.alloc(bytes);
const half = enveloped(short).subarray(0, 30);

/** What nobody sends who means well; each in two parts, too, where that can matter. */
export const hostile: readonly WireCase[] = [
  ["no message at all", ask({ body: [] }), "12"],
  ["no message at all for a stream", ask({ call: "StreamEvaluate", body: [] }), "12"],
  ["half of a prefix", ask({ body: [Buffer.of(0, 0, 0)] }), "3"],
  ["a message that is cut off", ask({ body: [half] }), "3"],
  ["a message that is cut off for a stream", ask({ call: "StreamEvaluate", body: [half] }), "3"],
  ["two messages", ask({ body: [enveloped(short), enveloped(short)] }), "12"],
  ["two messages in one part", ask({ body: [Buffer.concat([enveloped(short), enveloped(short)])] }), "12"],
  [
    "two messages for a stream",
    ask({ call: "StreamEvaluate", body: [enveloped(short), enveloped(short)] }),
    "12",
  ],
  ["a message and a half", ask({ body: [enveloped(short), half] }), "3"],
  ["a byte too many", ask({ body: [Buffer.concat([enveloped(short), Buffer.of(0)])] }), "3"],
  ["a length that is too short", ask({ body: [enveloped(short, 0, short.length - 1)] }), "3"],
  ["a length of gigabytes", ask({ body: [enveloped(short, 0, 0xffff_ffff)] }), "8"],
  ["a length just over the limit", ask({ body: [enveloped(short, 0, 64 * 1024 + 1)] }), "8"],
  ["as much as is allowed, and nothing in it", ask({ body: [enveloped(zeros(64 * 1024))] }), "3"],
  ["a byte more than is allowed", ask({ body: [enveloped(zeros(64 * 1024 + 1))] }), "8"],
  ["megabytes", ask({ body: [enveloped(zeros(2 * 1024 * 1024))] }), "8"],
  ["megabytes for a stream", ask({ call: "StreamEvaluate", body: [enveloped(zeros(2 * 1024 * 1024))] }), "8"],
  [
    "a message, and megabytes behind it",
    ask({ body: [enveloped(short), enveloped(zeros(2 * 1024 * 1024))] }),
    "8",
  ],
  [
    "hundreds of messages",
    ask({ body: [Buffer.concat(Array.from({ length: 500 }, () => enveloped(short)))] }),
    "12",
  ],
  [
    "a bomb",
    ask({ headers: { "grpc-encoding": "gzip" }, body: [enveloped(gzipSync(zeros(50 * 1024 * 1024)), 1)] }),
    "8",
  ],
  ["flags that nobody knows", ask({ body: [enveloped(short, 2)] }), "0"],
  ["all flags", ask({ body: [enveloped(short, 0xff)] }), "3"],
  ["bytes that are no message", ask({ body: [enveloped(Buffer.from("not protobuf at all"))] }), "3"],
  [
    "bytes that are no message for a stream",
    ask({ call: "StreamEvaluate", body: [enveloped(Buffer.from("not protobuf at all"))] }),
    "3",
  ],
  ["a string that is longer than its message", ask({ body: [enveloped(Buffer.of(0x0a, 0x7f, 0x41))] }), "3"],
  ["groups in groups", ask({ body: [enveloped(Buffer.alloc(60_000, 0x0b))] }), "3"],
  [
    "32,000 fields that are not known",
    ask({ body: [enveloped(Buffer.concat([short, ...Array.from({ length: 20_000 }, () => unknownField)]))] }),
    "0",
  ],
  ["a text that is no UTF-8", ask({ body: [enveloped(Buffer.of(0x0a, 2, 0xff, 0xfe))] }), "3"],
  ["a position of 60,000 characters", message({ fen: "x".repeat(60_000) }), "3"],
  ["control characters", message({ fen: "\u0000\u001b[31m" }), "3"],
  ["a key in the position", message({ fen: "kbz_0123456789abcdefghijklmnop" }), "3"],
  ["JSON in binary", ask({ body: [enveloped(Buffer.from('{"fen":"x"}'))] }), "3"],
  [
    "a message larger than the free part of the budget, cut off",
    ask({ body: [enveloped(zeros(30_000), 0, 60_000)] }),
    "3",
  ],
];
