import { expect, test } from "vitest";
import { createWasmBackend } from "../../src/engine/backends/wasm/index.ts";
import { profileOf } from "../../src/engine/profiles.ts";
import { noSandbox } from "../../src/engine/sandbox/sandbox.ts";
import { selfTest } from "../../src/engine/self-test.ts";
import { testBackend } from "../contract/backend.ts";

const settings = { hashMb: 16, threads: 1 };
const forever = new AbortController().signal;

testBackend("Stockfish 18, lite network", (times) => createWasmBackend(settings, noSandbox, times), {
  pickBuild: (builds) => builds.find(({ id }) => id === "stockfish-18-lite"),
  depth: 10,
});

test.each(["stockfish-18", "stockfish-18-lite"])(
  "%s has the author, options and self-test node count that are listed in the table of builds",
  async (id) => {
    const backend = createWasmBackend(settings, noSandbox);
    const build =
      (await backend.discover(forever)).find((one) => one.id === id) ?? expect.fail(`${id} is not installed`);
    await build.assertGenuine();
    await using session = await backend.start(build, forever);
    const { name, author, options } = session.info;
    expect(build).toMatchObject({ name, author, options });
    expect(await selfTest(session, profileOf(build.family), 1, forever)).toBe(build.selfTestNodes);
  },
);
