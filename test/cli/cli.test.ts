import { EventEmitter } from "node:events";
import { readFileSync } from "node:fs";
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import type { Host } from "../../src/cli/host.ts";
import { run } from "../../src/cli/run.ts";
import { createEnginesInProcess } from "../support/engines-in-process.ts";
import { useApp } from "../support/running-app.ts";
import { runKibitz } from "./run-kibitz.ts";

const app = useApp({}, { engines: createEnginesInProcess() });
const elsewhere = (args: readonly string[]) => runKibitz([...args, "--url", app.url]);

const mateInOne = "6k1/5ppp/8/8/8/8/5PPP/4R1K1 w - - 0 1";

test("kibitz eval prints the summary, the lines and the search depth", async () => {
  const { code, stdout, stderr } = await runKibitz(["eval", mateInOne, "--depth", "8", "--multipv", "2"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/^White mates in 1\. Best move: Re8#\.$/m);
  expect(stdout).toMatch(/^ +#1 +100\.0 % +1\. Re8#$/m);
  expect(stdout).toMatch(/^Stockfish 19 Lite WASM \(wasm\), depth 8, /m);
});

test("kibitz eval prints move numbers, and wraps lines at the width in COLUMNS", async () => {
  const args = ["eval", "startpos", "-m", "e4", "-d", "9"];
  const { stdout } = await runKibitz(args);
  const line = /^ +\S+ +\S+ % {2}(1\.\.\. \S+ 2\. \S+ \S+ 3\. .+)$/m.exec(stdout)?.[1] ?? "";
  expect(line).not.toBe("");
  const narrow = await runKibitz(args, { COLUMNS: "40" });
  expect(narrow.stdout.split("\n").filter((each) => each.length > 40)).toEqual([]);
  const [, rows = ""] = narrow.stdout.split("\n\n");
  expect(rows.split(/\s+/).slice(4).join(" ")).toBe(line);
});

test.each(["eval", "bestmove"])("kibitz %s prints the best move so far after Ctrl-C", async (command) => {
  const printed: string[] = [];
  const events = new EventEmitter();
  const host: Host = Object.assign(events, {
    env: {},
    stdin: Readable.from([]),
    stdout: { fd: 1, write: (text: string) => printed.push(text), once() {} },
    stderr: {
      fd: 2,
      isTTY: true,
      columns: 200,
      // The fake engines search beyond depth 19 until they are stopped.
      write: (text: string) => void (text.includes("depth 19 ") && events.emit("SIGINT", "SIGINT")),
      once() {},
    },
    exit: (code: number) => expect.fail(`ended with ${code}`),
  });
  expect(await run([command, "startpos", "-d", "30", "--url", app.url], host)).toBe(130);
  expect(printed.join("")).toMatch(/^(.+\n\n {4}.+ % .+|1\. \S+ \(.+)\n\n.+, depth 19, interrupted, .+\n$/);
});

test("kibitz eval accepts a FEN without quotes, followed by moves", async () => {
  const start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1".split(" ");
  const { stdout } = await elsewhere(["eval", ...start, "--moves", "f3 e5 g4", "-d", "6", "--json"]);
  expect(JSON.parse(stdout)).toMatchObject({ best_move: { san: "Qh4#" }, score: { mate: -1 } });
});

test("--nodes sets a node limit, and --search-moves restricts the search to some moves", async () => {
  const args = ["startpos", "--nodes", "200", "--search-moves", "a3 h2h3", "-n", "2"];
  const { stdout } = await elsewhere(["eval", ...args, "--json"]);
  expect(JSON.parse(stdout)).toMatchObject({
    best_move: { uci: expect.stringMatching(/^(a2a3|h2h3)$/) },
    search: {
      stop_reason: "nodes",
      deterministic: true,
      limits: { depth: null, nodes: 200, search_moves: ["a2a3", "h2h3"] },
    },
  });
  const people = await elsewhere(["bestmove", "startpos", "--nodes", "100", "--search-moves", "a3 h2h3"]);
  expect(people.stdout).toMatch(/^1\. (a3|h3) \(.*\)/);
  expect(people.stdout).toMatch(/, depth \d+, stopped by nodes, /);
});

test("the error about an illegal move in --search-moves contains the position", async () => {
  const { code, stdout, stderr } = await elsewhere(["eval", "startpos", "--search-moves", "e4 Ke2"]);
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toMatch(/'Ke2' .*\(search_moves\[1\], in the position rnbqkbnr\//);
  const nodes = await elsewhere(["eval", "startpos", "--nodes", "0", "--search-moves", "e4", "--json"]);
  expect(JSON.parse(nodes.stdout)).toMatchObject({
    errors: [{ pointer: "/nodes" }],
    suggested_request: { fen: "startpos", nodes: 1, search_moves: ["e4"] },
  });
});

test.each([
  [["eval", "startpos", "-d", "99"], /^kibitz: .*`depth`.*99.*\n.*"depth":30/],
  [["bestmove", "8/8/8/8/8/8/8/8 w - - 0 1"], /^kibitz: .* king/],
  [["eval", "startpos", "-m", "e4 e4"], /^kibitz: 'e4' is not a legal move/],
  [["eval", "startpos", "--search-moves", "e5"], /^kibitz: 'e5' is not a legal move/],
])("kibitz %j fails with a message before any engine starts", async (args, complaint) => {
  // If an engine started, this user name would cause another error.
  const { code, stderr } = await runKibitz(args, { KIBITZ_ENGINE_USER: "nosuchuser" });
  expect([code, stderr]).toEqual([2, expect.stringMatching(complaint)]);
});

test.each([["--help"], ["eval", "--help"], ["serve", "--help"]])(
  "kibitz %j wraps the help text between words",
  async (...args) => {
    const wide = await runKibitz(args);
    const narrow = await runKibitz(args, { COLUMNS: "60" });
    expect(narrow.stdout.split("\n").filter((line) => line.length > 60 && /\S \S/.test(line.trim()))).toEqual(
      [],
    );
    expect(narrow.stdout.match(/\S+/g)).toEqual(wide.stdout.match(/\S+/g));
  },
);

test("kibitz eval validates engine options and sends them to the engine", async () => {
  const weak = await elsewhere(["eval", mateInOne, "-d", "4", "-o", "skill_level=3", "--json"]);
  expect(JSON.parse(weak.stdout)).toMatchObject({ search: { limits: { options: { skill_level: 3 } } } });
  const wrong = await elsewhere(["eval", mateInOne, "-o", "skill_level=99"]);
  expect(wrong).toMatchObject({ code: 2, stdout: "" });
  expect(wrong.stderr).toContain("`skill_level`");
});

test.each([
  ["a missing position", ["eval"], /give the position as a FEN/],
  [
    "an unknown command",
    ["evaluate", mateInOne],
    /^kibitz: there is no command "evaluate"\n\nSee kibitz --help\n$/,
  ],
  ["a mistyped command", ["serv"], /^kibitz: there is no command "serv"; did you mean serve\?\n/],
  [
    "a mistyped option",
    ["eval", mateInOne, "--dpeth", "3"],
    /^kibitz: Unknown option '--dpeth'; did you mean --depth\?\n\nSee kibitz eval --help\n$/,
  ],
  [
    "an unknown option",
    ["eval", mateInOne, "--ply", "3"],
    /^kibitz: Unknown option '--ply'\n\nSee kibitz eval --help\n$/,
  ],
  ["an unknown short option", ["bestmove", mateInOne, "-jx"], /^kibitz: Unknown option '-j'\n/],
  [
    "an option without its value",
    ["eval", mateInOne, "--depth"],
    /^kibitz: Option '-d, --depth <value>' argument missing\n/,
  ],
  [
    "an option in the place of a value",
    ["eval", mateInOne, "-d", "--json"],
    /^kibitz: Option '-d' argument is ambiguous\. Did you forget .* use '--depth=-XYZ' or '-d-XYZ'\.\n/,
  ],
  ["a superfluous argument", ["doctor", "extra"], /^kibitz: doctor takes no arguments\n/],
  ["an unknown action", ["engines", "extra"], /^kibitz: give one of install, list, remove/],
  [
    "a value for an option without a value",
    ["eval", mateInOne, "--json=1"],
    /^kibitz: Option '--json' does not take an argument\n/,
  ],
  ["an unknown option of the server", ["--port", "80"], /Unknown option '--port'\n\nSee kibitz serve --help/],
  ["an engine option without a value", ["eval", mateInOne, "-o", "skill_level"], /name=value/],
  [
    "an engine option with two equals signs",
    ["eval", mateInOne, "-o", "skill_level=5=6"],
    /skill_level.*integer/s,
  ],
])("kibitz exits with 2 and a message about %s", async (_, args, message) => {
  const { code, stdout, stderr } = await runKibitz(args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toMatch(message);
});

test.each([
  ["an invalid FEN", ["eval", "start"], /FEN/],
  ["a depth out of range", ["eval", mateInOne, "--depth", "31"], /`depth`.*31/],
  ["a depth that is not a number", ["eval", mateInOne, "--depth", "deep"], /`depth`.*deep/],
  ["an unknown engine", ["bestmove", mateInOne, "--engine", "houdini"], /"houdini"/],
])("kibitz --url exits with 2 and a message about %s", async (_, args, message) => {
  const { code, stdout, stderr } = await elsewhere(args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toMatch(message);
});

test("the kibitz command and the API suggest the same corrected request", async () => {
  const deep = await runKibitz(["eval", mateInOne, "--depth", "99", "--multipv", "0", "--json"]);
  expect(JSON.parse(deep.stdout)).toMatchObject({
    code: "out_of_range",
    next_action: "send_suggested_request",
    suggested_request: { fen: mateInOne, depth: 30, multipv: 1 },
  });
  const short = await elsewhere(["bestmove", "8/8/4k3/8/8/4K3/4P3/8 b", "-d", "3", "--json"]);
  expect(JSON.parse(short.stdout)).toMatchObject({
    code: "invalid_fen",
    next_action: "send_suggested_request",
    suggested_request: { fen: "8/8/4k3/8/8/4K3/4P3/8 b - - 0 1", depth: 3 },
  });
  const hopeless = await elsewhere(["eval", mateInOne, "--depth", "99", "--engine", "nope", "--json"]);
  expect(JSON.parse(hopeless.stdout)).toMatchObject({ next_action: "fix_request", suggested_request: null });
  const people = await elsewhere(["eval", mateInOne, "--depth", "99"]);
  expect(people.stderr).toContain(`kibitz: try: {"fen":"${mateInOne}","depth":30}\n`);
});

test("kibitz engines lists the engines and their options, as text and as JSON", async () => {
  const people = await runKibitz(["engines"]);
  expect(people.stdout).toContain("stockfish-19-lite  (latest)\n");
  expect(people.stdout).toContain("skill_level: 0 to 20 (20)");
  const json = await runKibitz(["engines", "--json"]);
  expect(JSON.parse(json.stdout)).toMatchObject({
    latest: "stockfish-19-lite",
    engines: [{ id: "stockfish-19" }, {}],
  });
});

test("kibitz engines --url lists the engines of a service", async () => {
  const { code, stdout } = await elsewhere(["engines"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^stockfish-19.*\n {2}name {5}Stockfish 19.* in process\n {2}paths {4}wasm\n/m);
  expect(stdout).toContain("skill_level: 0 to 20 (20)");
});

test("every kibitz command has a help text, and the help of serve lists every setting", async () => {
  const all = await runKibitz(["--help"]);
  expect(all).toMatchObject({ code: 0, stderr: "" });
  for (const command of ["serve", "eval", "bestmove", "review", "engines"]) {
    expect(all.stdout).toContain(`kibitz ${command}`);
    expect(await runKibitz([command, "--help"])).toMatchObject({ code: 0, stderr: "" });
  }
  const { stdout } = await runKibitz(["serve", "-h"]);
  expect(stdout).toContain("KIBITZ_SLOTS=");
});

test("kibitz --version prints the version of the package, and the help mentions --version", async () => {
  expect((await runKibitz(["--help"])).stdout).toContain("kibitz --version");
  const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  expect(await runKibitz(["--version"])).toMatchObject({ code: 0, stdout: `${version}\n` });
});
