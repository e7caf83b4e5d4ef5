import { create } from "@bufbuild/protobuf";
import { createRouterTransport } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { AnalysisRequestSchema, Path } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import { AnalysisService } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { createSearchService } from "../../../src/cli/uci/search-service.ts";

const transport = createRouterTransport(({ service }) => {
  service(AnalysisService, {
    listEngines: () => ({
      latest: "stockfish-19",
      engines: [
        { id: "stockfish-20", name: "Stockfish 20", paths: [{ path: Path.NATIVE }] },
        { id: "stockfish-19", name: "Stockfish 19", latest: true, paths: [{ path: Path.WASM }] },
        { id: "stockfish-17.1", name: "Stockfish 17.1", paths: [{ path: Path.NATIVE }] },
      ],
    }),
  });
});

test.each([
  ["latest", {}, "Stockfish 19"],
  ["latest on its path", { path: Path.WASM }, "Stockfish 19"],
  ["the newest on another path", { path: Path.NATIVE }, "Stockfish 20"],
  ["the named one", { engine: "stockfish-17.1", path: Path.NATIVE }, "Stockfish 17.1"],
])("kibitz uci --url introduces the engine that its requests mean: %s", async (_, asked, name) => {
  const template = create(AnalysisRequestSchema, asked);
  const { introduce } = createSearchService({ transport, host: "kibitz.example" }, template);
  expect(await introduce()).toMatchObject({ name: `${name} at kibitz.example` });
});
