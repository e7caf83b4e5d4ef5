import { expect, test } from "vitest";
import { createWasmBackend } from "../../../src/engine/backends/wasm/index.ts";
import { profileOf } from "../../../src/engine/profiles.ts";
import { noSandbox } from "../../../src/engine/sandbox/sandbox.ts";
import { selfTest } from "../../../src/engine/self-test.ts";

const forever = new AbortController().signal;

test("the installed WebAssembly engines have the author, options and self-test node count that are listed in the table of builds", async () => {
  const backend = createWasmBackend({ hashMb: 16, threads: 1 }, noSandbox);
  const builds = await backend.discover(forever);
  expect(builds.map(({ id }) => id)).toEqual(["stockfish-19", "stockfish-19-lite"]);
  for (const build of builds) {
    await using session = await backend.start(build, forever);
    expect([build.id, await selfTest(session, profileOf(build.family), 1, forever)]).toEqual([
      build.id,
      build.selfTestNodes,
    ]);
    const { name, author, options } = session.info;
    expect(build).toMatchObject({ author, options });
    expect(build.name).toContain(name);
  }
});
