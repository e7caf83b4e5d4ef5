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
    { id: "gone", paths: [{ path: Path.NATIVE, unavailableReason: "the command lc0 does not exist." }] },
  ],
});
const chosenFor = (request: { engine?: string; path?: Path }) =>
  chooseEngine(engines, create(AnalysisRequestSchema, request)).id;

test.each([
  ["the latest engine by default", {}, "stockfish-19"],
  ["the latest engine on its path", { path: Path.WASM }, "stockfish-19"],
  ["the newest engine on another path", { path: Path.NATIVE }, "stockfish-20"],
  ["the engine of the option --engine", { engine: "stockfish-17.1", path: Path.NATIVE }, "stockfish-17.1"],
])("kibitz uci introduces itself with the name of %s", (_, request, id) => {
  expect(chosenFor(request)).toBe(id);
});

test("kibitz uci refuses an unknown engine, and lists the engines of the service", () => {
  expect(() => chosenFor({ engine: "stockfish-3" })).toThrow(
    'There is no engine "stockfish-3": the engines are stockfish-20, stockfish-19, stockfish-17.1, gone.',
  );
});

test("kibitz uci refuses an engine that was left out, with the reason", () => {
  expect(() => chosenFor({ engine: "gone" })).toThrow(
    'The engine "gone" cannot run here: the command lc0 does not exist.',
  );
});
