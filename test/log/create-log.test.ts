import { spawnSync } from "node:child_process";
import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";

/** What a process prints that logs three lines and then ends this way. */
function linesOf(end: string): readonly string[] {
  const source = `
    import { createLog } from "./src/log/create-log.ts";
    const log = await createLog("info");
    for (const index of [1, 2, 3]) log.info({ index }, "line");
    ${end}
  `;
  return printedBy(source);
}

function printedBy(source: string): readonly string[] {
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", source], {
    cwd: new URL("../..", import.meta.url),
    encoding: "utf8",
  });
  return stdout.split("\n").filter(Boolean);
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

test("what is not listed is not logged, nor what a library hangs on to its errors", () => {
  const [line = ""] = printedBy(`
    import { createLog } from "./src/log/create-log.ts";
    const log = await createLog("info");
    const err = Object.assign(new Error("outer", { cause: new TypeError("inner") }), { headers: { authorization: "canary" } });
    log.error({ requestId: "id-1", authorization: "canary", headers: { authorization: "canary" }, err }, "call");
  `);
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
  ["for programs", "process.stdout"],
  ["on a terminal", "Object.assign(process.stdout, { isTTY: true })"],
])("what is undefined is not written, %s", (_, stream) => {
  const lines = printedBy(`
    import { createLog } from "./src/log/create-log.ts";
    const log = await createLog("info", ${stream});
    log.info({ requestId: "id-1", engine: undefined, err: undefined, trace_id: undefined, depth: 0 }, "line");
  `).join("\n");
  expect(lines).toContain("id-1");
  expect(lines).toContain("depth");
  expect(lines).not.toMatch(/engine|err|trace_id|undefined/);
});

test("control characters are escaped, for programs and on a terminal", () => {
  const hostile = String.raw`\u001b[2J\r\nforged\u0000`;
  const source = (stream: string) => `
    import { createLog } from "./src/log/create-log.ts";
    const log = await createLog("info", ${stream});
    log.warn({ request: "${hostile}", err: new Error("${hostile}") }, "call");
  `;
  for (const stream of ["process.stdout", "Object.assign(process.stdout, { isTTY: true })"]) {
    const lines = printedBy(source(stream));
    expect(lines.join("\n")).toContain("forged");
    expect(lines.filter((line) => line.startsWith("forged"))).toEqual([]);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    expect(lines.join("\n")).not.toMatch(/\u001b\[2J|\r|\0/);
  }
});

test("on a terminal a call is one line, and other lines have their fields on the same line", () => {
  const lines = printedBy(`
    import { createLog } from "./src/log/create-log.ts";
    const log = await createLog("info", Object.assign(process.stdout, { isTTY: true }));
    const call = { requestId: "id-1", protocol: "json", ms: 12.3, address: "127.0.0.0/24" };
    log.info({ ...call, method: "Evaluate", engine: "stockfish-19", depth: 14, cached: true, code: "ok" }, "call");
    log.info({ ...call, method: "GET", request: "/nope", code: "not_found" }, "call");
    log.error({ ...call, method: "Evaluate", code: "internal" }, "call");
    log.info({ count: 3 }, "other");
  `);
  const plain = lines.map((line) => stripVTControlCharacters(line).replace(/^\[.*?\] /, ""));
  expect(plain).toEqual([
    "INFO: Evaluate (json): ok, 12.3 ms, stockfish-19 depth 14, cached",
    "INFO: GET /nope: not_found, 12.3 ms",
    "ERROR: Evaluate (json): internal, 12.3 ms, request id-1",
    'INFO: other {"count":3}',
  ]);
});

test("a line is what pino writes by itself", () => {
  const lines = printedBy(String.raw`
    import pino from "pino";
    import { createLog } from "./src/log/create-log.ts";
    const own = pino({ level: "debug", base: null, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination({ sync: true }));
    const log = await createLog("debug");
    const said = [
      {},
      { requestId: "id-1", ms: 0.1, count: 0, cached: false, path: undefined, code: "ok" },
      { ms: Number.NaN, engineMs: Number.POSITIVE_INFINITY, queueMs: -0 },
      { fen: '"\\/\u0001\u2028\ud800é♔', holds: ["a", "\n"], lacks: [], settings: { port: 1, none: null, left: undefined, list: [{ a: 1 }] } },
    ];
    for (const fields of said) {
      for (const level of ["debug", "info", "warn", "error"]) {
        own[level](fields, 'said "so"\n');
        log[level](fields, 'said "so"\n');
      }
    }
  `).map((line) => line.replace(/"time":"[^"]+"/, '"time":"now"'));
  expect(lines).toHaveLength(32);
  expect(lines.slice(16)).toEqual(lines.slice(0, 16));
});
