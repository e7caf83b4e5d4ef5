import { chmodSync } from "node:fs";
import { describe, expect, onTestFinished, test } from "vitest";
import { createChildProcess } from "../../src/engine/uci/child-process.ts";
import { createUciSession } from "../../src/engine/uci/session.ts";
import type { UciTransport } from "../../src/engine/uci/transport.ts";
import { defaultWatchTimes } from "../../src/engine/uci/watch-times.ts";
import { commandOfFake } from "../support/fake-engine/index.ts";
import { buildOf } from "./build-of.ts";
import { jobOf } from "./job-of.ts";
import { descendantsOf, enginesRunning, stillRunning } from "./processes.ts";
import { writeScript } from "./write-script.ts";

const forever = new AbortController().signal;

function start(file: string, ...args: readonly string[]): UciTransport {
  const engine = createChildProcess({ file, args });
  onTestFinished(() => engine.kill());
  return engine;
}

/** A Node process as an engine, given as source text. */
const node = (source: string) => start(process.execPath, "-e", source);
const linesOf = (engine: UciTransport) => Array.fromAsync(engine.lines);

describe("lines", () => {
  test("are whole, however they arrive", async () => {
    const engine = node(`
      const parts = ["read", "yok\\nbest", "move e2e4\\r\\n", "\\n", "half a line"];
      const write = () => parts.length && process.stdout.write(parts.shift(), () => setTimeout(write, 20));
      write();
    `);
    expect(await linesOf(engine)).toEqual(["readyok", "bestmove e2e4\r", ""]);
  });

  test("of any bytes are text", async () => {
    const engine = node("process.stdout.write(Buffer.from([0xff, 0xfe, 0x00, 0x0a]))");
    expect(await linesOf(engine)).toEqual(["\u00ff\u00fe\u0000"]);
  });

  test("end with an error when one has no end", async () => {
    const engine = node(`process.stdout.write("x".repeat(10_000_000)); setInterval(() => {}, 1000)`);
    await expect(linesOf(engine)).rejects.toThrow("more than 65536 characters");
  });
});

describe("an engine process", () => {
  test("hears what is sent together", async () => {
    const engine = node(`process.stdin.on("data", (data) => console.log(JSON.stringify(String(data))))`);
    const lines = engine.lines[Symbol.asyncIterator]();
    engine.send("position startpos");
    engine.send("go depth 1");
    expect((await lines.next()).value).toBe(String.raw`"position startpos\ngo depth 1\n"`);
  });

  test("sees nothing of the server's environment", async () => {
    process.env.KIBITZ_TEST_SECRET = "secret";
    onTestFinished(() => void delete process.env.KIBITZ_TEST_SECRET);
    const engine = node("console.log(process.env.KIBITZ_TEST_SECRET, process.env.PATH)");
    expect(await linesOf(engine)).toEqual(["undefined undefined"]);
  });

  test("may be sent lines when it is gone", async () => {
    const engine = node("");
    expect(await linesOf(engine)).toEqual([]);
    engine.send("isready");
    await engine.kill();
    engine.send("isready");
    await new Promise(setImmediate);
  });

  test("may be sent lines when it does not listen any more", async () => {
    const engine = node(`require("fs").closeSync(0); console.log("up"); setInterval(() => {}, 1000)`);
    await engine.lines[Symbol.asyncIterator]().next();
    for (let at = 0; at < 3; at++) {
      engine.send("isready");
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  });

  test("is gone when it is killed, though it ignores every other signal", async () => {
    const engine = node(`process.on("SIGTERM", () => {}); console.log("up"); for (;;);`);
    expect((await engine.lines[Symbol.asyncIterator]().next()).value).toBe("up");
    const running = enginesRunning();
    expect(running).toHaveLength(1);
    await engine.kill();
    expect(stillRunning(running)).toEqual([]);
    await engine.kill();
  });

  test("takes with it what it has started: a wrapper script is no place to hide", async () => {
    const { file, args } = commandOfFake({ misbehaviour: "hang" });
    // Without `exec`, the shell stays and the engine is its child.
    const script = writeScript(`"${file}" "${args.join('" "')}"\necho over`);
    const session = await createUciSession(buildOf(), start(script), defaultWatchTimes, forever);
    const search = session.search(jobOf(), forever)[Symbol.asyncIterator]();
    await search.next();
    const running = enginesRunning();
    expect(running).toHaveLength(2);
    await session[Symbol.asyncDispose]();
    await expect.poll(() => stillRunning(running), { timeout: 5000 }).toEqual([]);
  });

  test("is told to be suspended only while it is", async () => {
    const engine = node(`console.log("up"); setInterval(() => {}, 1000)`);
    await engine.lines[Symbol.asyncIterator]().next();
    expect(engine.suspended()).toBe(false);
    const [pid = 0] = enginesRunning();
    process.kill(pid, "SIGSTOP");
    await expect.poll(() => engine.suspended(), { timeout: 5000 }).toBe(true);
    process.kill(pid, "SIGCONT");
    await expect.poll(() => engine.suspended(), { timeout: 5000 }).toBe(false);
    await engine.kill();
    expect(engine.suspended()).toBe(false);
  });
});

describe("a file that cannot be run is no engine, and says why", () => {
  const startSession = async (file: string) =>
    createUciSession(buildOf(), createChildProcess({ file, args: [] }), defaultWatchTimes, forever);

  test("because it is not there", async () => {
    await expect(startSession("/nowhere/stockfish")).rejects.toMatchObject({
      kind: "no_start",
      message: expect.stringContaining("ENOENT"),
    });
  });

  test("because it may not be executed", async () => {
    const file = writeScript("echo uciok");
    chmodSync(file, 0o644);
    await expect(startSession(file)).rejects.toMatchObject({
      kind: "no_start",
      message: expect.stringContaining("EACCES"),
    });
  });

  test("because its name cannot be one", async () => {
    await expect(startSession("/usr/bin/\0")).rejects.toMatchObject({ kind: "no_start" });
  });

  test("because the process has no file descriptor left", () => {
    const engine = start("/bin/sh", "-c", `ulimit -n 40; exec "${process.execPath}" "$0"`, scarceFile);
    return expect(linesOf(engine)).resolves.toEqual(["EngineFailure no_start", "started again"]);
  });
});

const scarceFile = new URL("scarce-descriptors.ts", import.meta.url).pathname;

test("no process of this file is left", async () => {
  await expect.poll(() => descendantsOf(process.pid), { timeout: 5000 }).toEqual([]);
});
