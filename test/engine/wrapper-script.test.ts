import { expect, onTestFinished } from "vitest";
import { createNativeBackend } from "../../src/engine/backends/native/index.ts";
import type { EngineSession } from "../../src/engine/engine.ts";
import { noSandbox } from "../../src/engine/sandbox/sandbox.ts";
import { silentLog } from "../../src/log/log.ts";
import { nativeStockfish } from "../support/native-stockfish.ts";
import { testWith } from "../support/needs.ts";
import { jobOf, underWay } from "./job-of.ts";
import { descendantsOf, enginesRunning, stillRunning } from "./processes.ts";
import { writeScript } from "./write-script.ts";

const settings = { hashMb: 16, threads: 1 };
const forever = new AbortController().signal;

/** The engine is a shell script that runs Stockfish as a child process and waits until Stockfish exits. */
function wrapped() {
  const where = { files: [writeScript(`"${nativeStockfish()}"\necho over`)], searchPath: "" };
  return createNativeBackend(settings, where, noSandbox, silentLog);
}

interface Wrapped {
  readonly session: EngineSession;
  readonly shell: number;
  readonly engine: number;
}

async function startWrapped(): Promise<Wrapped> {
  const backend = wrapped();
  const [build] = await backend.discover(forever);
  const session = await backend.start(build ?? expect.fail("the script was not found"), forever);
  onTestFinished(() => session[Symbol.asyncDispose]());
  const [shell = 0, engine = 0, ...others] = enginesRunning();
  expect(others).toEqual([]);
  expect(descendantsOf(shell)).toEqual([engine]);
  return { session, shell, engine };
}

const gone = (...pids: readonly number[]) => expect.poll(() => stillRunning(pids)).toEqual([]);

testWith("native")(
  "if the script that runs an engine is killed, the search fails as killed, and the script and the engine end",
  async () => {
    const { session, shell, engine } = await startWrapped();
    const job = jobOf({ depth: 245 });
    const { answer } = await underWay((onProgress) => session.search(job, forever, onProgress));
    process.kill(shell, "SIGKILL");
    await expect(answer).rejects.toMatchObject({ kind: "killed" });
    await gone(shell, engine);
    expect(session.alive).toBe(false);
  },
);

// A healthy engine ends at the end of its input.
testWith("native")("an unresponsive engine in a script is killed together with the script", async () => {
  const { session, shell, engine } = await startWrapped();
  process.kill(engine, "SIGSTOP");
  process.kill(shell, "SIGKILL");
  await gone(shell, engine);
  expect(await session.exited).toMatchObject({ kind: "killed" });
});

testWith("native")(
  "the reported memory of an engine in a script is the memory of the engine and not of the shell",
  async () => {
    const { session } = await startWrapped();
    // Debian's Stockfish 15.1 with 16 MiB of hash needs 130 MB of memory, and a shell needs 1 to 2 MB.
    expect(session.memoryBytes()).toBeGreaterThan(50e6);
  },
);
