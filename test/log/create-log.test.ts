import { execFileSync, spawn, spawnSync } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { closeSync, constants, openSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { stripVTControlCharacters } from "node:util";
import { expect, test, vi } from "vitest";
import { createLog } from "../../src/log/create-log.ts";
import type { Log, LogFields } from "../../src/log/log.ts";
import { patienceMs } from "../support/patience.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";

/** Returns the log lines of a process that logs three lines and then runs `end`. */
function linesOf(end: string): readonly string[] {
  const source = `
    import { createLog } from "./src/log/create-log.ts";
    const log = await createLog("info");
    for (const index of [1, 2, 3]) log.info({ index }, "line");
    ${end}
  `;
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", source], {
    cwd: new URL("../..", import.meta.url),
    encoding: "utf8",
  });
  return stdout.split("\n").filter(Boolean);
}

const folder = useTemporaryFolder();

interface Printing {
  readonly isTTY?: boolean;
  readonly level?: "debug" | "info";
}

async function printedBy(
  write: (log: Log) => void,
  { isTTY = false, level = "info" }: Printing = {},
): Promise<readonly string[]> {
  const path = join(folder, "log");
  const fd = openSync(path, "w");
  const log = await createLog(level, { fd, isTTY }, new EventEmitter());
  write(log);
  log.error({}, "last line");
  await vi.waitFor(() => expect(readFileSync(path, "utf8")).toMatch(/last line.*\n$/), patienceMs);
  closeSync(fd);
  return readFileSync(path, "utf8").split("\n").filter(Boolean).slice(0, -1);
}

test.each([
  ["normally", ""],
  ["by process.exit directly afterwards", "process.exit(0)"],
  ["by an uncaught error", `throw new Error("a bug")`],
  ["a little later", "await new Promise((resolve) => setTimeout(resolve, 100))"],
])("no log line is lost if the process ends %s", (_, end) => {
  // The first line may be written in the background, after the others.
  const lines = linesOf(end).map((line) => JSON.parse(line));
  expect(lines.toSorted((one, other) => one.index - other.index)).toMatchObject(
    [1, 2, 3].map((index) => ({ index, msg: "line" })),
  );
});

test("a process keeps running when the reader of its log has closed the pipe", async () => {
  const source = `
    import { createLog } from "./src/log/create-log.ts";
    const log = await createLog("info");
    for (let index = 0; index < 50; index++) {
      log.info({ index }, "line");
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    console.error("the end");
  `;
  const child = spawn(process.execPath, ["--input-type=module", "-e", source], {
    cwd: new URL("../..", import.meta.url),
    stdio: ["ignore", "pipe", "pipe"],
  });
  child.stdout.once("data", () => child.stdout.destroy());
  const [printed, [code]] = await Promise.all([text(child.stderr), once(child, "exit")]);
  expect([code, printed]).toEqual([0, "the end\n"]);
});

test("the log contains only known fields, and no extra properties of errors", async () => {
  const [line = ""] = await printedBy((log) => {
    const err = Object.assign(new Error("outer", { cause: new TypeError("inner") }), {
      headers: { authorization: "canary" },
    });
    const unlisted = { authorization: "canary", headers: { authorization: "canary" } };
    log.error({ requestId: "id-1", ...unlisted, err } as LogFields, "call");
  });
  expect(line).not.toContain("canary");
  const logged = JSON.parse(line);
  expect(Object.keys(logged).toSorted()).toEqual(["err", "level", "msg", "requestId", "time"]);
  expect(logged.err).toMatchObject({
    type: "Error",
    message: "outer",
    cause: { type: "TypeError", message: "inner" },
  });
});

test.each([
  ["in JSON lines", false],
  ["on a terminal", true],
])("the log omits undefined fields %s", async (_, isTTY) => {
  const undefinedFields = { engine: undefined, err: undefined, trace_id: undefined } as LogFields;
  const lines = await printedBy(
    (log) => log.info({ requestId: "id-1", ...undefinedFields, depth: 0 }, "line"),
    { isTTY },
  );
  expect(lines.join("\n")).toContain("id-1");
  expect(lines.join("\n")).toContain("depth");
  expect(lines.join("\n")).not.toMatch(/engine|err|trace_id|undefined/);
});

test.each([
  ["in JSON lines", false],
  ["on a terminal", true],
])("the log escapes control characters %s", async (_, isTTY) => {
  const hostile = "\u001b[2J\r\nforged\u0000";
  const lines = await printedBy((log) => log.warn({ request: hostile, err: new Error(hostile) }, "call"), {
    isTTY,
  });
  expect(lines.join("\n")).toContain("forged");
  expect(lines.filter((line) => line.startsWith("forged"))).toEqual([]);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  expect(lines.join("\n")).not.toMatch(/\u001b\[2J|\r|\0/);
});

test("on a terminal, each log entry is one readable line", async () => {
  const lines = await printedBy(
    (log) => {
      const call = { requestId: "id-1", protocol: "json", ms: 12.3, address: "127.0.0.0/24" } as const;
      const analysis = { method: "Evaluate", engine: "stockfish-19", depth: 14, cached: true };
      log.info({ ...call, ...analysis, code: "ok" }, "call");
      log.info({ ...call, method: "GET", request: "/nope", code: "not_found" }, "call");
      log.error({ ...call, method: "Evaluate", code: "internal" }, "call");
      log.info({ count: 3 }, "other");
    },
    { isTTY: true },
  );
  const plain = lines.map((line) => stripVTControlCharacters(line).replace(/^\[.*?\] /, ""));
  expect(plain).toEqual([
    "INFO: Evaluate (json): ok, 12.3 ms, stockfish-19 depth 14, cached",
    "INFO: GET /nope: not_found, 12.3 ms",
    "ERROR: Evaluate (json): internal, 12.3 ms, request id-1",
    'INFO: other {"count":3}',
  ]);
});

test("a JSON log line contains the level, time, fields and message", async () => {
  const lines = await printedBy(
    (log) => {
      log.debug({}, 'said "so"\n');
      log.info({ requestId: "id-1", ms: 0.1, count: 0, cached: false, holds: ["a", "\n"] }, "line");
      log.warn({ fen: '"\\\u0001é♔', settings: { port: 1, none: null } }, "line");
    },
    { level: "debug" },
  );
  const time = /"time":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"/;
  expect(lines.map((line) => line.replace(time, '"time":"now"'))).toEqual([
    String.raw`{"level":20,"time":"now","msg":"said \"so\"\n"}`,
    String.raw`{"level":30,"time":"now","requestId":"id-1","ms":0.1,"count":0,"cached":false,"holds":["a","\n"],"msg":"line"}`,
    String.raw`{"level":40,"time":"now","fen":"\"\\\u0001é♔","settings":{"port":1,"none":null},"msg":"line"}`,
  ]);
});

function textIn(reader: number): string {
  const buffer = Buffer.alloc(64 * 1024);
  try {
    return buffer.toString("utf8", 0, readSync(reader, buffer));
  } catch (error) {
    expect(error).toMatchObject({ code: "EAGAIN" });
    return "";
  }
}

test("a log with a slow reader buffers 4 MB and then logs how many lines were lost", async () => {
  const path = join(folder, "pipe");
  execFileSync("mkfifo", [path]);
  // Open the pipe for reading and writing, because opening a pipe only for writing waits for a reader.
  const fd = openSync(path, "r+");
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const log = await createLog("info", { fd }, new EventEmitter());
  const fen = "x".repeat(920);
  for (let index = 0; index < 5000; index++) {
    log.info({ index, fen }, "line");
  }
  let read = "";
  const readUntil = async (end: RegExp) => {
    while (!end.test(read.slice(-1000))) {
      await sleep(1);
      read += textIn(reader);
    }
  };
  await readUntil(/lost.*\n$/);
  log.info({}, "after");
  await readUntil(/after.*\n$/);
  const lines = read.trimEnd().split("\n");
  const logged = lines.map((line) => JSON.parse(line));
  const kept = logged.length - 2;
  expect(logged.slice(0, kept).map(({ index }) => index)).toEqual(Array.from({ length: kept }, (_, i) => i));
  expect(logged.slice(kept)).toMatchObject([
    { level: 40, msg: "log lines were lost: there was no room for them", count: 5000 - kept },
    { msg: "after" },
  ]);
  expect(kept * Buffer.byteLength(`${lines[0]}\n`)).toBeGreaterThan(3_900_000);
  expect(kept).toBeLessThan(5000);
});
