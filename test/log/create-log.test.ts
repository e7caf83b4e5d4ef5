import { spawnSync } from "node:child_process";
import { EventEmitter } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import pino from "pino";
import { expect, test } from "vitest";
import { createLog } from "../../src/log/create-log.ts";
import type { Log, LogFields } from "../../src/log/log.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";

/** What a process prints that logs three lines and then ends this way. */
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

/** What a log writes into its file until the process ends. */
async function printedBy(
  write: (log: Log, fd: number) => void,
  { isTTY = false, level = "info" }: Printing = {},
): Promise<readonly string[]> {
  const path = join(folder, "log");
  const fd = openSync(path, "w");
  const host = new EventEmitter();
  write(await createLog(level, { fd, isTTY }, host), fd);
  host.emit("exit");
  closeSync(fd);
  return readFileSync(path, "utf8").split("\n").filter(Boolean);
}

test.each([
  ["by itself", ""],
  ["by an exit in the same turn", "process.exit(0)"],
  ["by an error that nobody catches", `throw new Error("a bug")`],
  ["after a while", "await new Promise((resolve) => setTimeout(resolve, 100))"],
])("no line is lost when the process ends %s", (_, end) => {
  expect(linesOf(end).map((line) => JSON.parse(line))).toMatchObject(
    [1, 2, 3].map((index) => ({ index, msg: "line" })),
  );
});

test("the log leaves out what is not listed, and what a library hangs on to its errors", async () => {
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
  ["for programs", false],
  ["on a terminal", true],
])("the log does not write what is undefined, %s", async (_, isTTY) => {
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
  ["for programs", false],
  ["on a terminal", true],
])("the log escapes control characters, %s", async (_, isTTY) => {
  const hostile = "\u001b[2J\r\nforged\u0000";
  const lines = await printedBy((log) => log.warn({ request: hostile, err: new Error(hostile) }, "call"), {
    isTTY,
  });
  expect(lines.join("\n")).toContain("forged");
  expect(lines.filter((line) => line.startsWith("forged"))).toEqual([]);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  expect(lines.join("\n")).not.toMatch(/\u001b\[2J|\r|\0/);
});

test("on a terminal a call is one line, and other lines have their fields on the same line", async () => {
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

test("a line of the log is what pino writes by itself", async () => {
  const lines = await printedBy(
    (log, fd) => {
      const options = { level: "debug", base: null, timestamp: pino.stdTimeFunctions.isoTime };
      const own = pino(options, pino.destination({ dest: fd, sync: true }));
      const settings = { port: 1, none: null, left: undefined, list: [{ a: 1 }] };
      const said = [
        {},
        { requestId: "id-1", ms: 0.1, count: 0, cached: false, path: undefined, code: "ok" },
        { ms: Number.NaN, engineMs: Number.POSITIVE_INFINITY, queueMs: -0 },
        { fen: '"\\/\u0001\u2028\ud800é♔', holds: ["a", "\n"], lacks: [], settings },
      ] as LogFields[];
      for (const fields of said) {
        for (const level of ["debug", "info", "warn", "error"] as const) {
          own[level](fields, 'said "so"\n');
          log[level](fields, 'said "so"\n');
        }
      }
    },
    { level: "debug" },
  ).then((all) => all.map((line) => line.replace(/"time":"[^"]+"/, '"time":"now"')));
  expect(lines).toHaveLength(32);
  expect(lines.slice(16)).toEqual(lines.slice(0, 16));
});
