import { create, fromJsonString } from "@bufbuild/protobuf";
import { createValidator } from "@bufbuild/protovalidate";
import { Code, ConnectError } from "@connectrpc/connect";
import { expect } from "vitest";
import { AnalysisRequestSchema } from "../../../../gen/chess/analysis/v1/analysis_pb.ts";
import type { ErrorCode } from "../../../../src/errors/catalog.ts";
import { errorFromConnect } from "../../../../src/protocols/connect/errors.ts";
import type { Faults } from "./bare-library.ts";

/** Invalid JSON requests, with the expected error codes. */
const undecodable: Readonly<Record<string, ErrorCode>> = {
  '{"fenn":1}': "unknown_field",
  '{"depth":"deep"}': "invalid_type",
  '{"path":"PATH_NONE"}': "out_of_range",
  "{": "malformed_json",
};

function decodingErrorOf(json: string): Error | undefined {
  try {
    fromJsonString(AnalysisRequestSchema, json);
    return undefined;
  } catch (error) {
    return error as Error;
  }
}

export const faultsOfProtobuf: Faults = {
  "Only the text of an error names the key or value that could not be decoded."() {
    for (const [json, means] of Object.entries(undecodable)) {
      const error = decodingErrorOf(json);
      expect(error?.constructor, json).toBe(Error);
      expect(Object.keys(error ?? {}), json).toEqual([]);
      const asConnects = ConnectError.from(error, Code.InvalidArgument);
      expect(errorFromConnect(asConnects, AnalysisRequestSchema).code, json).toBe(means);
    }
  },
};

const startFen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

function violationsOf(init: { readonly moves?: string[]; readonly engine?: string }) {
  const request = create(AnalysisRequestSchema, { fen: startFen, ...init });
  return createValidator().validate(AnalysisRequestSchema, request).violations ?? [];
}

export const faultsOfProtovalidate: Faults = {
  "Every item of a list that is too long is checked and reported."() {
    const violations = violationsOf({ moves: Array(5000).fill("") });
    expect(violations.map(({ ruleId }) => ruleId)).toContain("repeated.max_items");
    expect(violations.length).toBeGreaterThan(5000);
  },

  "Only the text of a violation names the exceeded limit."() {
    const [violation] = violationsOf({ engine: "x".repeat(65) });
    expect(violation?.message).toContain("64");
    expect(Object.keys(violation ?? {}).toSorted()).toEqual(["field", "forKey", "message", "rule", "ruleId"]);
  },
};
