import { chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createChildProcess } from "../../src/engine/uci/child-process.ts";
import { createUciSession } from "../../src/engine/uci/session.ts";
import type { UciTransport } from "../../src/engine/uci/transport.ts";
import { defaultWatchTimes } from "../../src/engine/uci/watch.ts";
import { commandOfFake } from "../support/fake-engine/index.ts";
import { patienceMs } from "../support/patience.ts";
import { buildOf } from "./build-of.ts";
import { jobOf, underWay } from "./job-of.ts";
import { firstLineOf, linesOf } from "./lines-of.ts";
import { descendantsOf, enginesRunning, stillRunning } from "./processes.ts";
import { createFolder, writeScript } from "./write-script.ts";

const forever = new AbortController().signal;

function start(file: string, ...args: readonly string[]): UciTransport {
  const engine = createChildProcess({ file, args });
  onTestFinished(() => engine.kill());
  return engine;
}

const node = (source: string) => start(process.execPath, "-e", source);

/** Blocks the event loop until the file has this many lines. */
function waitForLines(file: string, count: number): readonly string[] {
  for (const startedAt = performance.now(); performance.now() - startedAt < 10_000; ) {
    const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : [];
    if (lines.length >= count) {
      return lines;
    }
  }
  return [];
}

describe("lines", () => {
  test("the lines of an engine are complete even if they arrive in pieces", async () => {
    const engine = node(`
      const parts = ["read", "yok\\nbest", "move e2e4\\r\\n", "\\n", "half a line"];
      const write = () => parts.length && process.stdout.write(parts.shift(), () => setTimeout(write, 20));
      write();
    `);
    expect(await linesOf(engine)).toEqual(["readyok", "bestmove e2e4\r", ""]);
  });

  test("the lines of an engine may contain any bytes", async () => {
    const engine = node("process.stdout.write(Buffer.from([0xff, 0xfe, 0x00, 0x0a]))");
    expect(await linesOf(engine)).toEqual(["\u00ff\u00fe\u0000"]);
  });

  test("the lines of an engine arrive as soon as they are printed", async () => {
    const engine = node(`console.log("up"); process.stdin.on("data", (data) => process.stdout.write(data))`);
    const lines: string[] = [];
    const over = engine.read((line) => lines.push(line));
    for (const said of ["isready", "go depth 1", "stop"]) {
      engine.send(said);
      await expect.poll(() => lines.at(-1)).toBe(said);
    }
    await engine.kill();
    await over;
    expect(lines).toEqual(["up", "isready", "go depth 1", "stop"]);
  });

  test("reading the lines of an engine ends when the engine is killed", async () => {
    const engine = node(`console.log("up"); setInterval(() => {}, 1000)`);
    const lines = linesOf(engine);
    await engine.kill();
    await lines;
    expect(await engine.ended).toBe("outside");
  });

  test("reading the lines of an engine ends when the engine closes its output, even if the engine keeps running", async () => {
    const engine = node(`console.log("up"); require("fs").closeSync(1); setInterval(() => {}, 1000)`);
    expect(await linesOf(engine)).toEqual(["up"]);
    expect(enginesRunning()).toHaveLength(1);
  });

  test("reading the lines of an engine fails if the engine does not start", async () => {
    await expect(linesOf(start("/nowhere/stockfish"))).rejects.toThrow("ENOENT");
  });

  test("reading the lines of an engine fails if a line is too long", async () => {
    const engine = node(`process.stdout.write("x".repeat(10_000_000)); setInterval(() => {}, 1000)`);
    await expect(linesOf(engine)).rejects.toThrow("more than 65536 characters");
  });

  test("reading the lines of an engine fails if the callback throws, and the server keeps running", async () => {
    const engine = node(`console.log("readyok"); setInterval(() => {}, 1000)`);
    const reading = engine.read(() => {
      throw new Error("a bug");
    });
    await expect(reading).rejects.toThrow("a bug");
  });
});

describe("an engine process", () => {
  test("an engine process gets all commands of one write, even while the server is busy", async () => {
    const file = join(createFolder(), "heard");
    const engine = node(`
      const { appendFileSync } = require("node:fs");
      console.log("up");
      process.stdin.on("data", (data) => {
        appendFileSync(${JSON.stringify(file)}, JSON.stringify(String(data)) + "\\n");
        console.log("heard");
      });
    `);
    const lines: string[] = [];
    const over = engine.read((line) => lines.push(line));
    await expect.poll(() => lines).toEqual(["up"]);
    const together = ["ucinewgame", "position startpos", "go depth 1"];
    for (let times = 1; times <= 20; times++) {
      engine.send(...together);
      // The engine receives the lines although the event loop of this process is blocked.
      const heard = waitForLines(file, times);
      expect(heard.at(-1)).toBe(JSON.stringify(`${together.join("\n")}\n`));
      expect(heard).toHaveLength(times);
      expect(lines).toHaveLength(times);
      await expect.poll(() => lines).toHaveLength(times + 1);
    }
    await engine.kill();
    await over;
  });

  test("an engine process does not get the environment variables of the server", async () => {
    process.env.KIBITZ_TEST_SECRET = "secret";
    onTestFinished(() => void delete process.env.KIBITZ_TEST_SECRET);
    const engine = node("console.log(process.env.KIBITZ_TEST_SECRET, process.env.PATH)");
    expect(await linesOf(engine)).toEqual(["undefined undefined"]);
  });

  test("commands to an engine process that has ended are ignored", async () => {
    const engine = node("");
    expect(await linesOf(engine)).toEqual([]);
    engine.send("isready");
    await engine.kill();
    engine.send("isready");
    await new Promise(setImmediate);
  });

  test("commands to an engine process with a closed input are ignored", async () => {
    const engine = node(`require("fs").closeSync(0); console.log("up"); setInterval(() => {}, 1000)`);
    await firstLineOf(engine);
    for (let at = 0; at < 3; at++) {
      engine.send("isready");
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  });

  test("an engine process that ignores signals can be killed", async () => {
    const engine = node(`process.on("SIGTERM", () => {}); console.log("up"); for (;;);`);
    expect(await firstLineOf(engine)).toBe("up");
    const running = enginesRunning();
    expect(running).toHaveLength(1);
    await engine.kill();
    expect(stillRunning(running)).toEqual([]);
    await engine.kill();
  });

  test("killing an engine process also kills its child processes", async () => {
    const { file, args } = commandOfFake({ misbehaviour: "hang" });
    // Without `exec`, the shell starts a child process for the engine.
    const script = writeScript(`"${file}" "${args.join('" "')}"\necho over`);
    const session = await createUciSession(buildOf().settings, start(script), defaultWatchTimes, forever);
    await underWay((onProgress) => session.search(jobOf(), forever, onProgress));
    const running = enginesRunning();
    expect(running).toHaveLength(2);
    await session[Symbol.asyncDispose]();
    await expect.poll(() => stillRunning(running)).toEqual([]);
  });

  test("the output of a child process is ignored after its engine process has ended", async () => {
    const engine = start("/bin/sh", "-c", "yes bestmove e2e4 & sleep 0.2");
    const late: string[] = [];
    let hasEnded = false;
    void engine.ended.then(() => {
      hasEnded = true;
    });
    await engine.read((line) => hasEnded && late.push(line));
    expect(hasEnded).toBe(true);
    expect(late).toEqual([]);
  });

  test("the processor time of an engine process includes its child processes", async () => {
    const busy = `for (const end = Date.now() + 60_000; Date.now() < end; );`;
    const script = writeScript(`"${process.execPath}" -e "${busy}"\necho over`);
    const engine = start(script);
    await expect.poll(() => engine.processorMs(), { timeout: patienceMs }).toBeGreaterThan(200);
    await engine.kill();
    expect(engine.processorMs()).toBeUndefined();
  });
});

describe("an engine file that cannot be started", () => {
  const startSession = async (file: string) =>
    createUciSession(buildOf().settings, createChildProcess({ file, args: [] }), defaultWatchTimes, forever);

  test("starting a missing engine file fails with the reason", async () => {
    await expect(startSession("/nowhere/stockfish")).rejects.toMatchObject({
      kind: "no_start",
      message: expect.stringContaining("ENOENT"),
    });
  });

  test("starting an engine file without execute permission fails with the reason", async () => {
    const file = writeScript("echo uciok");
    chmodSync(file, 0o644);
    await expect(startSession(file)).rejects.toMatchObject({
      kind: "no_start",
      message: expect.stringContaining("EACCES"),
    });
  });

  test("starting an engine file with an invalid name fails with the reason", async () => {
    await expect(startSession("/usr/bin/\0")).rejects.toMatchObject({ kind: "no_start" });
  });

  test("starting an engine without a free file descriptor fails with the reason", () => {
    const engine = start("/bin/sh", "-c", `ulimit -n 40; exec "${process.execPath}" "$0"`, scarceFile);
    return expect(linesOf(engine)).resolves.toEqual(["EngineFailure no_start", "started again"]);
  });
});

const scarceFile = new URL("scarce-descriptors.ts", import.meta.url).pathname;

test("no engine process is running after the tests of child processes", async () => {
  await expect.poll(() => descendantsOf(process.pid)).toEqual([]);
});
