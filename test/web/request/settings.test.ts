import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { AnalysisRequestSchema, Path } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import type { OptionField } from "../../../web/src/request/option-fields.ts";
import { readSettings, settingsFromRecord, settingsFromRequest } from "../../../web/src/request/settings.ts";

const options: readonly OptionField[] = [
  { kind: "integer", name: "skill_level", title: "Skill", minimum: 0, maximum: 20 },
  { kind: "boolean", name: "limited", title: "Limited", usual: false },
  { kind: "choice", name: "style", title: "Style", choices: ["Solid", "Risky"] },
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
  expect(readSettings(all, options)).toEqual({
    request: {
      depth: 12,
      multipv: 3,
      movetimeMs: 2000,
      nodes: 1_000_000_000n,
      engine: "stockfish-19",
      path: Path.WASM,
      searchMoves: ["e4", "Nf3"],
      options: { skill_level: 5, limited: true, style: "Risky" },
    },
    faults: {},
  });
});

test("a request becomes settings, and the same request again", () => {
  const { request } = readSettings(all, options);
  expect(settingsFromRequest(create(AnalysisRequestSchema, request))).toEqual(all);
});

test("unset settings are left to the service", () => {
  expect(readSettings({}, options)).toEqual({ request: {}, faults: {} });
  expect(settingsFromRequest(create(AnalysisRequestSchema))).toEqual({});
});

describe("what is out of range", () => {
  test.each([
    ["depth", "0", "A whole number from 1 to 30"],
    ["depth", "31", "A whole number from 1 to 30"],
    ["depth", "1.5", "A whole number from 1 to 30"],
    ["depth", "1e1", "A whole number from 1 to 30"],
    ["multipv", "11", "A whole number from 1 to 10"],
    ["movetime_ms", "49", "A whole number from 50 to 60,000"],
    ["nodes", "1000000001", "A whole number from 1 to 1,000,000,000"],
    ["search_moves", "e4 ".repeat(219), "At most 218 moves"],
    ["options.skill_level", "21", "A whole number from 0 to 20"],
    ["options.limited", "maybe", "Not one of the choices"],
    ["options.style", "Wild", "Not one of the choices"],
  ])("the page reports the setting %s %s as out of range, and does not send it", (name, text, fault) => {
    expect(readSettings({ [name]: text }, options)).toEqual({ request: {}, faults: { [name]: fault } });
  });
});

test("the page does not send options that the engine does not have", () => {
  const settings = { "options.contempt": "24" };
  expect(readSettings(settings, options)).toEqual({ request: {}, faults: {} });
  expect(readSettings(settings, undefined)).toEqual({ request: {}, faults: {} });
});

test("the page reads only settings from a stored record", () => {
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
