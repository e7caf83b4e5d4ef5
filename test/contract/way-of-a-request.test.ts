import { Session } from "node:inspector/promises";
import { fileURLToPath } from "node:url";
import { createClient, type Transport } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { expect, test } from "vitest";
import { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { useApp } from "../support/running-app.ts";
import { startFen } from "./doors/cases/case.ts";
import { post } from "./doors/post.ts";

/**
 * How many files of the service a newcomer has to read to follow one request that asks an engine: those in which a
 * function was called meanwhile, as V8 counts them.
 */
const app = useApp({ KIBITZ_ACCESS: "public", KIBITZ_CACHE_MB: "0" });
const source = fileURLToPath(new URL("../../src/", import.meta.url));

async function filesPassed(call: (depth: number) => Promise<unknown>): Promise<readonly string[]> {
  using session = { inspector: new Session(), [Symbol.dispose]: () => session.inspector.disconnect() };
  const { inspector } = session;
  inspector.connect();
  // What is made once, is made.
  await call(4);
  await inspector.post("Profiler.enable");
  await inspector.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  await inspector.post("Profiler.takePreciseCoverage");
  await call(5);
  const { result } = await inspector.post("Profiler.takePreciseCoverage");
  await inspector.post("Profiler.stopPreciseCoverage");
  return (
    result
      // The first range of what is read, from its first character, is the module itself.
      .filter(({ functions }) =>
        functions.some(({ ranges: [whole] }) => whole && whole.startOffset > 0 && whole.count > 0),
      )
      .map(({ url }) => url.replace("file://", "").split("?")[0] ?? "")
      .filter((path) => path.startsWith(source))
      .map((path) => path.slice(source.length))
      .toSorted()
  );
}

test("of plain JSON is through 60 files at most", async () => {
  const files = await filesPassed((depth) => post(`${app.url}/v1/eval`, { fen: startFen, depth }));
  console.log(files.length, files.join(" "));
  expect(files.length).toBeGreaterThan(30);
  expect(files.length).toBeLessThanOrEqual(60);
});

test("of gRPC is through 65 files at most", async () => {
  const transport: Transport = createGrpcTransport({ baseUrl: app.url });
  const client = createClient(AnalysisService, transport);
  const files = await filesPassed((depth) => client.evaluate({ fen: startFen, depth }));
  console.log(files.length, files.join(" "));
  expect(files.length).toBeGreaterThan(30);
  expect(files.length).toBeLessThanOrEqual(65);
});
