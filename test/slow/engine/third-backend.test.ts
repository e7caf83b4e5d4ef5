import { describe, expect, test } from "vitest";
import { createWasmBackend } from "../../../src/engine/backends/wasm/index.ts";
import type { SearchEvent } from "../../../src/engine/engine.ts";
import { startEngines } from "../../../src/engine/engines.ts";
import { noSandbox } from "../../../src/engine/sandbox/sandbox.ts";
import { silentLog } from "../../../src/log/log.ts";
import { eventsOf, jobOf } from "../../engine/job-of.ts";
import { createRecordedBackend } from "../../support/recorded-engine/index.ts";

const forever = new AbortController().signal;
const job = jobOf({ depth: 6 });

/** What the lite network says to the start position. */
async function record(): Promise<Record<string, readonly SearchEvent[]>> {
  const backend = createWasmBackend({ hashMb: 16, threads: 1 }, noSandbox);
  const lite =
    (await backend.discover(forever)).find(({ net }) => net === "lite") ?? expect.fail("no lite build");
  await using session = await backend.start(lite, forever);
  return { [job.position.fen]: await eventsOf(session, job, forever) };
}

const options = { defaultEngine: undefined, memoryMaxBytes: 1e9, log: silentLog };

describe("a third way to run engines", () => {
  test("another backend needs a folder and nothing else: pools and sessions take it unchanged", async () => {
    const recording = await record();
    await using room = await startEngines(
      { ...options, backends: [createRecordedBackend(recording)] },
      forever,
    );
    expect(room.catalog.latest.id).toBe("recorded-1");
    const { defaultBuild } = room.catalog.latest;
    const answer = await room.search(defaultBuild, job, forever);
    expect(answer).toEqual(recording[job.position.fen]?.at(-1));
  });
});

describe("auto", () => {
  // No native Stockfish 19 is to be had here: recorded ones stand for it.
  const roomOf = (nodes: number | undefined) =>
    startEngines(
      {
        ...options,
        backends: [
          createRecordedBackend(
            {},
            { id: "stockfish-19", version: "19", path: "native", selfTestNodes: nodes },
          ),
          createRecordedBackend({}, { id: "stockfish-19", version: "19", path: "wasm", selfTestNodes: 6130 }),
        ],
      },
      forever,
    );

  test("auto means native if both builds of a version visit the same nodes", async () => {
    await using room = await roomOf(6130);
    expect(room.catalog.resolve("latest", "auto")).toMatchObject({ build: { path: "native" } });
    expect(room.catalog.resolve("stockfish-19", "wasm")).toMatchObject({ build: { path: "wasm" } });
  });

  test.each([
    ["visit other nodes", 6131],
    ["are not all reproducible", undefined],
  ])("auto does not mix builds that %s, though each can be chosen by its path", async (_, nodes) => {
    await using room = await roomOf(nodes);
    expect(room.catalog.resolve("latest", "auto")).toMatchObject({ build: { path: "wasm" } });
    expect(room.catalog.resolve("stockfish-19", "native")).toMatchObject({ build: { path: "native" } });
  });
});

test("the builds that are installed have the nodes, author and options that their table says", async () => {
  const { selfTest } = await import("../../../src/engine/self-test.ts");
  const backend = createWasmBackend({ hashMb: 16, threads: 1 }, noSandbox);
  const builds = await backend.discover(forever);
  expect(builds.map(({ id }) => id)).toEqual(["stockfish-19", "stockfish-19-lite"]);
  for (const build of builds) {
    await using session = await backend.start(build, forever);
    expect([build.id, await selfTest(session, 1, forever)]).toEqual([build.id, build.selfTestNodes]);
    const { name, author, options } = session.info;
    expect(build).toMatchObject({ name, author, options });
  }
});
