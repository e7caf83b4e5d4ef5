import { expect, test } from "vitest";
import { Path } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import type { OptionField } from "../../../web/src/request/option-fields.ts";
import {
  requestFromSettings,
  settingsFromPlain,
  settingsFromRecord,
} from "../../../web/src/request/settings.ts";

const none = { minimum: undefined, maximum: undefined, choices: [], usual: "" };
const options: readonly OptionField[] = [
  { ...none, kind: "number", name: "skill_level", title: "Skill" },
  { ...none, kind: "boolean", name: "limited", title: "Limited" },
  { ...none, kind: "choice", name: "style", title: "Style", choices: ["Solid", "Risky"] },
];

const all = {
  depth: "12",
  multipv: "3",
  movetime_ms: "2000",
  nodes: "1000000000",
  engine: "stockfish-19",
  path: "wasm",
  search_moves: "e4 Nf3",
  "options.skill_level": "5",
  "options.limited": "true",
  "options.style": "Risky",
};

test("every setting becomes a field of the request", () => {
  expect(requestFromSettings(all, options)).toEqual({
    depth: 12,
    multipv: 3,
    movetimeMs: 2000,
    nodes: 1_000_000_000n,
    engine: "stockfish-19",
    path: Path.WASM,
    searchMoves: ["e4", "Nf3"],
    options: { skill_level: 5, limited: true, style: "Risky" },
  });
});

test("for an engine whose usual limit is a number of nodes, the request has no depth", () => {
  const { depth: _, ...others } = requestFromSettings(all, options);
  expect(requestFromSettings(all, options, "nodes")).toEqual(others);
});

test("a request in plain JSON becomes settings", () => {
  const plain = {
    fen: "startpos",
    depth: 12,
    multipv: 3,
    movetime_ms: 2000,
    nodes: 1_000_000_000,
    engine: "stockfish-19",
    path: "wasm",
    search_moves: ["e4", "Nf3"],
    options: { skill_level: 5, limited: true, style: "Risky" },
  };
  expect(settingsFromPlain(plain)).toEqual(all);
  expect(settingsFromPlain({ pgn: "1. e4", lines: 2 })).toEqual({ multipv: "2" });
});

test("unset settings are not sent to the service", () => {
  expect(requestFromSettings({}, options)).toEqual({});
  expect(settingsFromPlain({})).toEqual({});
});

test.each([
  ["depth", "31", { depth: 31 }],
  ["nodes", "1000000001", { nodes: 1_000_000_001n }],
  ["options.skill_level", "21", { options: { skill_level: 21 } }],
  ["options.limited", "maybe", { options: { limited: "maybe" } }],
  ["options.style", "Wild", { options: { style: "Wild" } }],
])(
  "the page sends the setting %s with the invalid value %s, so that the service can explain the error",
  (name, text, request) => {
    expect(requestFromSettings({ [name]: text }, options)).toEqual(request);
  },
);

test.each(["-1", "1.5", "1e1", "4294967296", "many"])(
  "the page does not send the depth %s, because the request field cannot hold the value",
  (depth) => {
    expect(requestFromSettings({ depth }, options)).toEqual({});
  },
);

test("the page does not send options that the engine does not have", () => {
  const settings = { "options.contempt": "24" };
  expect(requestFromSettings(settings, options)).toEqual({});
  expect(requestFromSettings(settings, undefined)).toEqual({});
});

test("only known and valid settings are read from a stored record", () => {
  const record = {
    depth: "12",
    fen: "startpos",
    key: "kbz_secret",
    engine: " ",
    "options.skill_level": "5",
    "options.__proto__ ": "1",
    search_moves: "e4 ".repeat(2000),
  };
  expect(settingsFromRecord(record)).toEqual({ depth: "12", "options.skill_level": "5" });
});
