import { describe, expect, test } from "vitest";
import { parseLine, type UciInfo } from "../../src/engine/uci/parse-line.ts";

function infoOf(line: string): UciInfo {
  const parsed = parseLine(line);
  return parsed.kind === "info" ? parsed.info : expect.fail(`${parsed.kind}: ${line}`);
}

/** The text that the bytes of `text` in UTF-8 are in Latin-1. */
const latin1 = (text: string) => Buffer.from(text).toString("latin1");

const nothing: UciInfo = { bound: "exact", pv: [] };

describe("info", () => {
  test("an info line is read with every field that Stockfish prints", () => {
    const line =
      "info depth 14 seldepth 18 multipv 2 score cp -25 wdl 3 970 27 nodes 97789 nps 752223 hashfull 44 tbhits 7 time 130 pv d2d4 g8f6";
    expect(infoOf(line)).toEqual({
      depth: 14,
      seldepth: 18,
      multipv: 2,
      score: { kind: "cp", cp: -25 },
      bound: "exact",
      wdl: { win: 3, draw: 970, loss: 27 },
      nodes: 97_789,
      nps: 752_223,
      hashfull: 44,
      tbhits: 7,
      time: 130,
      pv: ["d2d4", "g8f6"],
    });
  });

  test("only the first 256 moves of a line are read, because no search is that deep", () => {
    expect(infoOf(`info depth 3 pv${" g1f3 g8f6 f3g1 f6g8".repeat(100)}`).pv).toHaveLength(256);
  });

  test.each<[what: string, line: string, says: Partial<UciInfo>]>([
    ["a mate", "info score mate 3", { score: { kind: "mate", mate: 3 } }],
    ["a mate by the opponent", "info score mate -2", { score: { kind: "mate", mate: -2 } }],
    ["a mate in zero moves", "info score mate 0", { score: { kind: "mate", mate: 0 } }],
    [
      "a bound before the wdl, as Stockfish 19 prints it",
      "info depth 10 score cp -1 lowerbound wdl 18 963 19 pv b1d2 f8d6",
      {
        depth: 10,
        score: { kind: "cp", cp: -1 },
        bound: "lower",
        wdl: { win: 18, draw: 963, loss: 19 },
        pv: ["b1d2", "f8d6"],
      },
    ],
    [
      "a bound after the wdl, as Stockfish 15.1 prints it",
      "info depth 10 score cp 4 wdl 9 985 6 upperbound nodes 50212 pv h2h3",
      {
        depth: 10,
        score: { kind: "cp", cp: 4 },
        bound: "upper",
        wdl: { win: 9, draw: 985, loss: 6 },
        nodes: 50_212,
        pv: ["h2h3"],
      },
    ],
    ["a line without wdl", "info depth 2 score cp 3", { depth: 2, score: { kind: "cp", cp: 3 } }],
    [
      "the move being searched",
      "info depth 9 currmove e2e4 currmovenumber 1",
      { depth: 9, currmove: "e2e4" },
    ],
    ["the word none instead of a move", "info depth 9 currmove none currmovenumber 1", { depth: 9 }],
    ["unknown fields", "info cpuload 500 sbhits 3 depth 4 whatever", { depth: 4 }],
    ["nothing", "info", {}],
    ["additional spaces", "  info\t depth   3  \t pv   e2e4    e7e5 \r", { depth: 3, pv: ["e2e4", "e7e5"] }],
    ["zeros", "info depth 0 nodes 0 time 0", { depth: 0, nodes: 0, time: 0 }],
    ["the greatest number", "info nodes 999999999999999", { nodes: 999_999_999_999_999 }],
  ])("an info line is read with %s", (_, line, says) => {
    expect(infoOf(line)).toEqual({ ...nothing, ...says });
  });

  test.each<[what: string, line: string, says: Partial<UciInfo>]>([
    ["a word", "info depth deep seldepth 5", { seldepth: 5 }],
    ["a fraction", "info depth 5.5 nodes 3", { nodes: 3 }],
    ["an exponent", "info nodes 1e3 nps 4", { nps: 4 }],
    ["a hexadecimal number", "info nodes 0x10 nps 4", { nps: 4 }],
    ["an infinity", "info depth Infinity score cp NaN nodes 1", { nodes: 1 }],
    ["a negative count", "info depth -3 time -1 nodes 2", { nodes: 2 }],
    ["a number that is too large", "info nodes 99999999999999999999 nps 4", { nps: 4 }],
    [
      "a number of more than 32 bits",
      "info depth 2147483648 time 4294967296 seldepth 5 nodes 2147483648",
      { seldepth: 5, nodes: 2 ** 31 },
    ],
    ["a score of more than 32 bits", "info score cp -2147483648 wdl 1 2 3000000000 nps 4", { nps: 4 }],
    ["a plus sign", "info score cp +5 nodes 1", { nodes: 1 }],
    ["an incomplete wdl", "info wdl 500 500 nodes 4", { nodes: 4 }],
    ["a negative probability", "info wdl -1 500 501 nodes 4", { nodes: 4 }],
    ["a score of an unknown kind", "info score good 5 nodes 4", { nodes: 4 }],
    ["a mate without a number", "info score mate soon nodes 4", { nodes: 4 }],
  ])("an info line with %s in a field is read without that field", (_, line, says) => {
    expect(infoOf(line)).toEqual({ ...nothing, ...says });
  });

  test.each<[what: string, line: string, says: Partial<UciInfo>]>([
    ["the value of a counter", "info depth seldepth 5", { seldepth: 5 }],
    ["the value of the last counter", "info seldepth 5 depth", { seldepth: 5 }],
    ["a score", "info score nodes 4 nps 5", { nodes: 4, nps: 5 }],
    ["the value of a score", "info score cp nodes 4 nps 5", { nodes: 4, nps: 5 }],
    ["the last score", "info nodes 4 score cp", { nodes: 4 }],
    ["a wdl", "info wdl nodes 4", { nodes: 4 }],
    ["the moves", "info depth 3 pv", { depth: 3 }],
  ])("the rest of an info line is read if %s is missing", (_, line, says) => {
    expect(infoOf(line)).toEqual({ ...nothing, ...says });
  });

  test("a score of -0 in an info line is read as 0", () => {
    const zeros = infoOf("info depth -0 score mate -0");
    expect([zeros.depth, zeros.score]).toEqual([0, { kind: "mate", mate: 0 }]);
  });

  test("an info string is read as text even after other fields", () => {
    expect(parseLine("info string NNUE evaluation using nn.nnue depth 5")).toEqual({ kind: "other" });
    expect(parseLine(" info \t string  nodes 5")).toEqual({ kind: "other" });
    expect(parseLine("info string")).toEqual({ kind: "other" });
    expect(infoOf("info strings nodes 5")).toEqual({ ...nothing, nodes: 5 });
    expect(infoOf("info depth 5 string score cp 900 pv a1a8")).toEqual({ ...nothing, depth: 5 });
  });

  test("words such as constructor and toString in an info line are ignored", () => {
    expect(infoOf("info __proto__ 5 constructor 6 toString 7")).toEqual(nothing);
  });
});

describe("CRITICAL ERROR", () => {
  test("CRITICAL ERROR is read with its reason up to a maximum length", () => {
    const line = "info string CRITICAL ERROR: Position::set failed. Reason: no king";
    expect(parseLine(line)).toEqual({ kind: "critical", reason: line });
    const long = parseLine(`${line}${"!".repeat(60_000)}`);
    expect(long.kind === "critical" && long.reason.length).toBe(500);
  });

  test("CRITICAL ERROR is recognized only in an info string", () => {
    expect(parseLine("CRITICAL ERROR")).toEqual({ kind: "other" });
  });
});

describe("bestmove", () => {
  test.each([
    ["bestmove e2e4 ponder e7e5", "e2e4", "e7e5"],
    ["bestmove e7e8q", "e7e8q", undefined],
    ["  bestmove  a7a8n  ponder  h1h8\r", "a7a8n", "h1h8"],
    ["bestmove e2e4 ponder (none)", "e2e4", undefined],
    ["bestmove e2e4 ponder", "e2e4", undefined],
    ["bestmove e2e4 e7e5", "e2e4", undefined],
    ["bestmove (none)", undefined, undefined],
    ["bestmove 0000", undefined, undefined],
    ["bestmove", undefined, undefined],
    ["bestmove e2e9", undefined, undefined],
    ["bestmove e7e8k", undefined, undefined],
    ["bestmove E2E4", undefined, undefined],
    ["bestmove e2e4e5", undefined, undefined],
  ])("bestmove %j is read as the move %s and the reply %s", (line, move, ponder) => {
    expect(parseLine(line)).toEqual({ kind: "bestmove", move, ponder });
  });
});

describe("option", () => {
  test.each([
    [
      "option name Skill Level type spin default 20 min 0 max 20",
      { name: "Skill Level", type: "spin", default: "20", min: 0, max: 20 },
    ],
    [
      "option name UCI_Chess960 type check default false",
      { name: "UCI_Chess960", type: "check", default: "false" },
    ],
    [
      "option name Debug Log File type string default <empty>",
      { name: "Debug Log File", type: "string", default: "<empty>" },
    ],
    [
      "option name Debug Log File type string default",
      { name: "Debug Log File", type: "string", default: "" },
    ],
    ["option name Clear Hash type button", { name: "Clear Hash", type: "button" }],
    [
      "option name Style type combo default Very Solid var Very Solid var Risky",
      { name: "Style", type: "combo", default: "Very Solid", choices: ["Very Solid", "Risky"] },
    ],
    [
      "option name Contempt type spin default -10 min -100 max 100",
      { name: "Contempt", type: "spin", default: "-10", min: -100, max: 100 },
    ],
    [
      "  option   name  Move  Overhead   type spin default 10 min x max",
      { name: "Move Overhead", type: "spin", default: "10" },
    ],
  ])("the option line %j is read", (line, says) => {
    const undeclared = { choices: [], default: undefined, min: undefined, max: undefined };
    expect(parseLine(line)).toEqual({ kind: "option", option: { ...undeclared, ...says } });
  });

  test.each([
    "option",
    "option name",
    "option type spin",
    "option name Hash",
    "option name Hash type",
    "option Hash spin",
  ])("the option line %j is refused", (line) => {
    expect(parseLine(line)).toEqual({ kind: "other" });
  });
});

test.each([
  ["uciok", { kind: "uciok" }],
  ["readyok\r", { kind: "readyok" }],
  ["id name Stockfish  15.1", { kind: "id", field: "name", value: "Stockfish 15.1" }],
  [
    "id author the Stockfish developers (see AUTHORS file)",
    { kind: "id", field: "author", value: "the Stockfish developers (see AUTHORS file)" },
  ],
  ["id name", { kind: "id", field: "name", value: "" }],
  // The text of an engine is read as Latin-1.
  [latin1("id author Jérôme à Łódź"), { kind: "id", field: "author", value: "Jérôme à Łódź" }],
  ["id author Jérôme", { kind: "id", field: "author", value: "Jérôme" }],
  ["id elo 3000", { kind: "other" }],
])("the line %j is read", (line, parsed) => {
  expect(parseLine(line)).toEqual(parsed);
});

test.each([
  "",
  " ",
  "\0",
  "Stockfish 15.1 by the developers",
  "uciokay",
  "readyok?",
  "info\0depth 5",
  "copyprotection ok",
])("the line %j is ignored", (line) => {
  expect(parseLine(line)).toEqual({ kind: "other" });
});

test("every line of 65,536 characters is parsed quickly and without an exception", () => {
  const lines = [
    " ".repeat(65_536),
    "info ".repeat(13_000),
    `info pv ${"e2e4 ".repeat(13_000)}`,
    "info depth ".repeat(5900),
  ];
  for (const line of lines) {
    expect(["info", "other"]).toContain(parseLine(line).kind);
  }
});
