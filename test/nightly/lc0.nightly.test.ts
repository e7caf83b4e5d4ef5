import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { EngineDescription } from "../../src/engine/backends/native/described.ts";
import { createNativeBackend } from "../../src/engine/backends/native/index.ts";
import { noSandbox } from "../../src/engine/sandbox/sandbox.ts";
import { silentLog } from "../../src/log/log.ts";
import { testBackend } from "../contract/backend.ts";
import { jobOf } from "../engine/job-of.ts";
import { describeWith } from "../support/needs.ts";
import { randomNetwork } from "../support/random-network.ts";
import { serve } from "../support/served.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";
import { lc0File } from "../tools/lc0.ts";

const folder = useTemporaryFolder();
const network = join(folder, "random.pb.gz");
chmodSync(folder, 0o755);
writeFileSync(network, randomNetwork(1));

const description: EngineDescription = {
  id: "leela",
  command: { written: "lc0", path: lc0File },
  ...{ args: [], env: {}, files: [{ written: "random.pb.gz", path: network }] },
  options: { WeightsFile: "random.pb.gz" },
  ...{ instances: 1, memoryMb: 500, startMs: 120_000, defaultLimit: undefined },
};

describeWith("lc0")("Lc0 with a network of random weights", () => {
  const where = { files: [], searchPath: "/usr/bin:/bin", described: [description] };
  const settings = { hashMb: 4, threads: 1 };

  testBackend("Lc0", (times) => createNativeBackend(settings, where, noSandbox, silentLog, times), {
    pickBuild: ([build]) => build,
    depth: 60,
    family: "lc0",
  });

  test("Lc0 with one node returns the most likely move of its network, as for Maia", async () => {
    const backend = createNativeBackend(settings, where, noSandbox, silentLog);
    const [build] = await backend.discover(new AbortController().signal);
    await using session = await backend.start(build ?? expect.fail("no build"), new AbortController().signal);
    const ask = () =>
      session.search(jobOf({ depth: undefined, nodes: 1, multipv: 3 }), new AbortController().signal);
    const first = await ask();
    expect(first).toMatchObject({ endedBy: "nodes", snapshot: { complete: true, lines: { length: 3 } } });
    expect((await ask()).bestMove).toBe(first.bestMove);
  });

  test("a server in its sandbox serves Lc0 with the limits and warnings of an engine that is not reproducible", async () => {
    const file = join(folder, "engines.json");
    writeFileSync(
      file,
      JSON.stringify({
        engines: [
          {
            ...{ id: "leela", command: lc0File, files: ["random.pb.gz"] },
            ...{ options: { WeightsFile: "random.pb.gz" }, instances: 1, memory_mb: 500, start_ms: 120_000 },
          },
        ],
      }),
    );
    const server = await serve({ KIBITZ_ENGINES: file, KIBITZ_ACCESS: "open" });
    const post = async (path: string, body: object) => {
      const response = await fetch(`${server.url}${path}`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(body),
      });
      return (await response.json()) as Record<string, unknown>;
    };
    for (const _ of [1, 2]) {
      expect(await post("/v1/eval", { fen: "startpos", engine: "leela", multipv: 2 })).toMatchObject({
        engine: { id: "leela" },
        score: { wdl: {} },
        lines: [{}, {}],
        search: { deterministic: false, cached: false, limits: { depth: null, nodes: 100 } },
      });
    }
    expect(await post("/v1/eval", { fen: "startpos", engine: "leela", depth: 3 })).toMatchObject({
      code: "out_of_range",
      errors: [{ pointer: "/depth" }],
    });
    expect(await post("/v1/review", { pgn: "1. e4 e5 *", engine: "leela", nodes: 5 })).toMatchObject({
      warnings: [{ code: "not_reproducible" }],
    });
  });
});
