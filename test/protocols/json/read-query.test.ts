import { create } from "@bufbuild/protobuf";
import { FieldDescriptorProto_Type as Type } from "@bufbuild/protobuf/wkt";
import { expect, it } from "vitest";
import { AnalysisRequestSchema, Path } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import { GetPriceRequestSchema } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { createMessageReader } from "../../../src/calls/plain/read-message.ts";
import { createQueryReader } from "../../../src/protocols/json/read-request.ts";
import { messageWith } from "../../calls/plain/made-up-proto.ts";

const readPrice = createMessageReader(GetPriceRequestSchema);
const read = (query: string) => readPrice(createQueryReader(GetPriceRequestSchema)(query));

it.each([
  ["", {}],
  ["depth=20", { depth: 20 }],
  ["depth=20&multipv=3&movetime_ms=1000&", { depth: 20, multipv: 3, movetimeMs: 1000 }],
  ["%64epth=%32%30", { depth: 20 }],
  ["nodes=2000000", { nodes: 2_000_000n }],
])("the JSON gateway reads the query %j", (query, init) => {
  expect(read(query)).toEqual({ message: create(GetPriceRequestSchema, init), violations: [] });
});

it.each([
  ["depth=abc", "/depth", "invalid_type"],
  ["depth=", "/depth", "invalid_type"],
  ["depth", "/depth", "invalid_type"],
  ["depth=014", "/depth", "invalid_type"],
  ["depth=%2B14", "/depth", "invalid_type"],
  ["depth=1e1", "/depth", "invalid_type"],
  ["depth=14.0", "/depth", "invalid_type"],
  ["depth=%2014", "/depth", "invalid_type"],
  ["depth=-0", "/depth", "invalid_type"],
  ["depth=true", "/depth", "invalid_type"],
  ["depth=1&depth=2", "/depth", "invalid_type"],
  ["depth=1&depth=2&depth=3", "/depth", "invalid_type"],
  ["depth=-1", "/depth", "out_of_range"],
  ["depth=99999999999", "/depth", "out_of_range"],
  ["nodes=2e6", "/nodes", "invalid_type"],
  ["nodes=18446744073709551615", "/nodes", "out_of_range"],
  ["deph=1", "/deph", "unknown_field"],
  ["movetimeMs=1", "/movetimeMs", "unknown_field"],
  ["__proto__=1", "/__proto__", "unknown_field"],
  ["constructor=1&constructor=2", "/constructor", "unknown_field"],
])("the JSON gateway refuses the query %j", (query, pointer, code) => {
  const { message, violations } = read(query);
  expect(violations).toMatchObject([{ pointer, code }]);
  expect(message).toEqual(create(GetPriceRequestSchema));
});

it("a query may contain words, text with spaces and lists", () => {
  const readRequest = createMessageReader(AnalysisRequestSchema);
  const readQuery = createQueryReader(AnalysisRequestSchema);
  expect(readRequest(readQuery("fen=8/8+w+-+-&path=wasm&moves=e4&engine=19")).message).toEqual(
    create(AnalysisRequestSchema, { fen: "8/8 w - -", path: Path.WASM, moves: ["e4"], engine: "19" }),
  );
  expect(readRequest(readQuery("moves=e4&moves=14")).message).toEqual(
    create(AnalysisRequestSchema, { moves: ["e4", "14"] }),
  );
});

it("booleans in a query must be the words true or false", () => {
  const readQuery = createQueryReader(messageWith({ name: "yes", type: Type.BOOL }));
  expect(readQuery("yes=true")).toEqual({ yes: true });
  expect(readQuery("yes=false")).toEqual({ yes: false });
  expect(readQuery("yes=1")).toEqual({ yes: "1" });
});
