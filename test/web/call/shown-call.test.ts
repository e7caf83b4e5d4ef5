import { create, type DescMethod, type Message } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { AnalysisRequestSchema, Path } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import {
  AnalysisService,
  EvaluateResponseSchema,
  StreamEvaluateResponseSchema,
} from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { GameService, ReviewGameRequestSchema } from "../../../gen/chess/analysis/v1/game_service_pb.ts";
import { shownCall, shownMessage } from "../../../web/src/call/shown-call.ts";

const request = create(AnalysisRequestSchema, { fen: "startpos", nodes: 5n, path: Path.WASM });
const show = (method: DescMethod, message: Message, url = "http://localhost:8080") =>
  shownCall({ method, request: message, withKey: false }, url);

test("a shown call has the address and the request for plain JSON and for gRPC", () => {
  expect(show(AnalysisService.method.evaluate, request)).toEqual({
    url: "http://localhost:8080/v1/eval",
    body: { fen: "startpos", nodes: 5, path: "wasm" },
    events: false,
    withKey: false,
    host: "localhost:8080",
    tls: false,
    prefix: "",
    procedure: "chess.analysis.v1.AnalysisService/Evaluate",
    message: { fen: "startpos", nodes: "5", path: "PATH_WASM" },
  });
});

test("a shown stream uses server-sent events", () => {
  const review = create(ReviewGameRequestSchema, { moves: ["e4"] });
  expect(show(AnalysisService.method.streamEvaluate, request)).toMatchObject({
    url: "http://localhost:8080/v1/eval/stream",
    events: true,
  });
  expect(show(GameService.method.reviewGame, review)).toMatchObject({
    url: "http://localhost:8080/v1/review",
    events: true,
    body: { moves: ["e4"] },
  });
});

test.each([
  ["https://chess.example/kibitz", { host: "chess.example:443", tls: true, prefix: "/kibitz" }],
  ["http://chess.example", { host: "chess.example:80", tls: false, prefix: "" }],
  ["http://[::1]:8080", { host: "[::1]:8080", prefix: "" }],
])("a shown call has the address of the page: %s", (url, shown) => {
  expect(show(AnalysisService.method.evaluate, request, url)).toMatchObject({
    url: `${url}/v1/eval`,
    ...shown,
  });
});

test("a call without a body is not shown", () => {
  const { listEngines } = AnalysisService.method;
  expect(show(listEngines, create(listEngines.input))).toBeUndefined();
});

test("a shown response has every field, and a shown message of a stream has only the field that is set", () => {
  const evaluation = create(EvaluateResponseSchema, { id: "1" });
  expect(shownMessage(EvaluateResponseSchema, evaluation)).toMatchObject({
    id: "1",
    best_move: null,
    lines: [],
  });
  const event = create(StreamEvaluateResponseSchema, {
    event: { case: "queued", value: { place: 2, expectedWaitMs: 840 } },
  });
  expect(shownMessage(StreamEvaluateResponseSchema, event)).toEqual({
    queued: { place: 2, expected_wait_ms: 840 },
  });
});
