import { expect, test } from "vitest";
import { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { createLocalAccess } from "../../src/access/access.ts";
import { localCall } from "../../src/calls/call.ts";
import { silentLog } from "../../src/log/log.ts";
import { createAnalysisService } from "../../src/services/analysis-service.ts";
import { createTimeSlicer } from "../../src/thread/event-loop.ts";

test("an engine whose file was replaced fails the call that lists it, and not the process", async () => {
  const replaced = new Error("its file was replaced");
  const build = { id: "x", sha256: () => Promise.reject(replaced) };
  const version = { id: "x", builds: [build], defaultBuild: build };
  const { methods } = createAnalysisService({
    analyzer: { expectMs: () => 1 },
    engines: {
      catalog: { versions: [version], latest: version },
      available: () => true,
    },
    access: await createLocalAccess(),
    judge: {},
    beginWork: createTimeSlicer(),
    searchesAtOnce: 1,
    log: silentLog,
  } as never);
  const call = localCall(AnalysisService.method.listEngines);
  await expect(methods.listEngines({} as never, call)).rejects.toBe(replaced);
});
