import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { AnalysisRequestSchema, Path } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import { ListEnginesResponseSchema } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { chooseEngine } from "../../../src/cli/uci/choose-engine.ts";

const { engines } = create(ListEnginesResponseSchema, {
  engines: [
    { id: "stockfish-20", paths: [{ path: Path.NATIVE }] },
    { id: "stockfish-19", latest: true, paths: [{ path: Path.WASM }] },
    { id: "stockfish-17.1", paths: [{ path: Path.NATIVE }] },
  ],
});
const chosenFor = (request: { engine?: string; path?: Path }) =>
  chooseEngine(engines, create(AnalysisRequestSchema, request)).id;

test.each([
  ["latest", {}, "stockfish-19"],
  ["latest on its path", { path: Path.WASM }, "stockfish-19"],
  ["the newest on another path", { path: Path.NATIVE }, "stockfish-20"],
  ["the named one", { engine: "stockfish-17.1", path: Path.NATIVE }, "stockfish-17.1"],
])("kibitz uci introduces the engine that its requests mean: %s", (_, request, id) => {
  expect(chosenFor(request)).toBe(id);
});

test("kibitz uci refuses an engine that the service does not have, and names those that it has", () => {
  expect(() => chosenFor({ engine: "stockfish-3" })).toThrow(
    'There is no engine "stockfish-3": the engines are stockfish-20, stockfish-19, stockfish-17.1.',
  );
});
