import { describe, expect, onTestFinished, test } from "vitest";
import { createNativeBackend } from "../../../src/engine/backends/native/index.ts";
import { createWasmBackend } from "../../../src/engine/backends/wasm/index.ts";
import type { EngineBackend, EngineBuild, EngineSession } from "../../../src/engine/engine.ts";
import { noSandbox } from "../../../src/engine/sandbox/sandbox.ts";
import { silentLog } from "../../../src/log/log.ts";
import { jobOf } from "../../engine/job-of.ts";
import { unstoppable } from "../../engine/unstoppable.ts";
import { nativeStockfish } from "../../support/native-stockfish.ts";
import { testWith } from "../../support/needs.ts";

const settings = { hashMb: 16, threads: 1 };
const forever = new AbortController().signal;
const movetimeMs = 500;

async function start(backend: EngineBackend, pick: (build: EngineBuild) => boolean): Promise<EngineSession> {
  const build = (await backend.discover(forever)).find(pick) ?? expect.fail("the build was not found");
  const session = await backend.start(build, forever);
  onTestFinished(() => session[Symbol.asyncDispose]());
  return session;
}

const search = (session: EngineSession) => session.search(jobOf({ fen: unstoppable, movetimeMs }), forever);

describe("a position in which an engine does not stop", () => {
  test("an engine that never stops searching a position fails with the error kind overtime", async () => {
    const session = await start(createWasmBackend(settings, noSandbox), ({ net }) => net === "lite");
    await session.search(jobOf({ depth: 4 }), forever);
    await expect(search(session)).rejects.toMatchObject({ name: "EngineFailure", kind: "overtime" });
  });

  test("the full network answers a position in which the lite network never stops searching", async () => {
    const session = await start(createWasmBackend(settings, noSandbox), ({ net }) => net === "full");
    expect((await search(session)).snapshot.lines).toHaveLength(1);
    expect(session.alive).toBe(true);
  });

  testWith("native")(
    "a native engine answers a position in which the lite network never stops searching",
    async () => {
      const where = { files: [nativeStockfish() ?? ""], searchPath: "" };
      const session = await start(createNativeBackend(settings, where, noSandbox, silentLog), () => true);
      expect((await search(session)).snapshot.lines).toHaveLength(1);
      expect(session.alive).toBe(true);
    },
  );
});
