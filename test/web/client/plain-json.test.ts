import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { AnalysisRequestSchema, Path } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import { messageFromPlain, plainRequest } from "../../../web/src/client/plain-json.ts";

const plain = {
  fen: "startpos",
  moves: ["e4"],
  depth: 12,
  movetime_ms: 2000,
  path: "wasm",
  options: { skill_level: 5, limited: true },
  nodes: 1_000_000_000,
  search_moves: ["e5"],
};

test("a request is written with the names and words of plain JSON, and read again", () => {
  const message = messageFromPlain(AnalysisRequestSchema, plain);
  expect(message).toMatchObject({ movetimeMs: 2000, path: Path.WASM, nodes: 1_000_000_000n });
  expect(plainRequest(AnalysisRequestSchema, message)).toEqual(plain);
});

test("unset fields are not written as plain JSON", () => {
  expect(plainRequest(AnalysisRequestSchema, create(AnalysisRequestSchema, { fen: "startpos" }))).toEqual({
    fen: "startpos",
  });
});

test("fields and words that are newer than this page are left out", () => {
  expect(messageFromPlain(AnalysisRequestSchema, { fen: "startpos", path: "gpu", wit: 3 })).toEqual(
    create(AnalysisRequestSchema, { fen: "startpos" }),
  );
});
