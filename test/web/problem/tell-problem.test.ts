import { readFileSync } from "node:fs";
import { create, type JsonObject } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { FaultSchema, type Problem, ProblemSchema } from "../../../gen/chess/analysis/v1/problem_pb.ts";
import { messageFromPlain } from "../../../web/src/client/plain-json.ts";
import {
  changesOf,
  duration,
  pageOf,
  placeOfFault,
  tellFailure,
} from "../../../web/src/problem/tell-problem.ts";

function exampleOf(name: string): Problem {
  const text = readFileSync(new URL(`../../../docs/examples/${name}.json`, import.meta.url), "utf8");
  const answer: JsonObject = JSON.parse(text).answer;
  return messageFromPlain(ProblemSchema, answer);
}

test("the page says what it would ask instead of a request beyond the plan", () => {
  const problem = exampleOf("upgrade-needed");
  expect(tellFailure({ kind: "problem", problem })).toEqual({
    title: "Upgrade needed",
    detail: "Keyless calls may ask for depth up to 20; this request asks for 30.",
    advice: undefined,
  });
  expect(changesOf(problem)).toBe("depth 20");
  expect(pageOf(problem)).toBe("problems/upgrade-needed");
});

test("the page says what to do if it has no button for it", () => {
  const problem = exampleOf("illegal-position");
  expect(tellFailure({ kind: "problem", problem }).advice).toBe("Correct it and ask again.");
  expect(changesOf(problem)).toBe("");
});

test("the page names the invalid fields, and the suggested values", () => {
  const problem = exampleOf("two-faults");
  expect(problem.errors.map(placeOfFault)).toEqual(["multipv", "depth"]);
  expect(changesOf(problem)).toBe("multipv 3, depth 1");
});

test.each([
  ["unreachable", "The service cannot be reached"],
  ["cut", "The connection was lost"],
] as const)("the page says in words that no service answers: %s", (kind, title) => {
  expect(tellFailure({ kind }).title).toBe(title);
});

test("the page sends a caller who needs a key to the operator, if the service issues none", () => {
  const asking = (nextAction: string) =>
    tellFailure({
      kind: "problem",
      problem: create(ProblemSchema, { code: "api_key_required", nextAction }),
    });
  expect(asking("contact_operator").advice).toBe("Ask whoever runs this service for a key, and enter it.");
  expect(asking("get_api_key").advice).toBeUndefined();
});

test("the page repeats the error of another program", () => {
  expect(tellFailure({ kind: "foreign", said: "HTTP 502" }).detail).toContain("HTTP 502");
});

describe("the suggestion", () => {
  const suggesting = (pointers: readonly string[], suggestedRequest: JsonObject) =>
    changesOf(create(ProblemSchema, { errors: pointers.map((pointer) => ({ pointer })), suggestedRequest }));

  test("the page's suggestion names each field once", () => {
    const request = { depth: 20, multipv: 5, fen: "startpos" };
    expect(suggesting(["/depth", "/multipv", "/depth"], request)).toBe("depth 20, multipv 5");
  });

  test("the page's suggestion counts a list and cuts a long text", () => {
    expect(suggesting(["/moves/3"], { moves: ["e4", "e5", "Nf3"] })).toBe("moves of 3 items");
    expect(suggesting(["/fen"], { fen: "x".repeat(200) })).toHaveLength(94);
  });

  test("the page's suggestion does not show a whole game", () => {
    const request = { pgn: '[White "Morphy"]\n\n1. e4 e5', depth: 20 };
    expect(suggesting(["/pgn", "/depth"], request)).toBe("the beginning of the game, depth 20");
  });

  test("the page's suggestion leaves out removed fields and inherited members", () => {
    expect(suggesting(["/depth", "/constructor", ""], { fen: "startpos" })).toBe("");
  });
});

test.each([
  ["/moves/3", undefined, "moves[3]"],
  ["/options/skill~1level", undefined, "options.skill/level"],
  ["", undefined, ""],
  ["/pgn", { line: 3, column: 12 }, "pgn, line 3, column 12"],
])("the page says where a violation is: %s %j", (pointer, place, told) => {
  expect(placeOfFault(create(FaultSchema, { pointer, ...place }))).toBe(told);
});

test.each([
  "//elsewhere.example/x",
  "https://elsewhere.example",
  "/problems/../x",
  "javascript:alert(1)",
  "",
])("the page links to no foreign address: %s", (type) => {
  expect(pageOf(create(ProblemSchema, { type }))).toBeUndefined();
});

test.each([
  [0, "0 s"],
  [1, "1 s"],
  [44_001, "45 s"],
  [200_000, "3 min 20 s"],
  [18_120_000, "5 h 2 min"],
])("the wait of %d ms is shown as %s", (ms, told) => {
  expect(duration(ms)).toBe(told);
});
