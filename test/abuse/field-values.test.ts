import { describe, expect, test } from "vitest";
import { rpcOf } from "./calls.ts";
import { expectProblem } from "./expect-problem.ts";
import { startFen, useSharedService } from "./started-service.ts";

const service = useSharedService();

/** The values are JSON text, because JavaScript would round some of the numbers. */
const noIntegers = [
  '"14"',
  '""',
  '"x"',
  "14.5",
  "1e-1",
  "-1",
  "0",
  "-0",
  "-1e400",
  "1e400",
  "1e999999999",
  "9007199254740993",
  "18446744073709551616",
  "99999999999999999999999999",
  "4294967297",
  "4294967310",
  "2147483648",
  "true",
  "false",
  "[]",
  "[14]",
  "{}",
  '{"value":14}',
];
const noTexts = ["null", "0", "14", "true", "[]", '["x"]', "{}", '""'];

const ask = (field: string, json: string, call = "/v1/eval") =>
  service.post(call, field === "fen" ? `{"fen":${json}}` : `{"fen":"${startFen}","${field}":${json}}`);

describe("08: a field value outside its range is refused, and never changed to a valid value", () => {
  test.each(["depth", "multipv", "movetime_ms"])(
    "%s refuses a value that is not an integer in the allowed range",
    async (field) => {
      for (const json of noIntegers) {
        const problem = expectProblem(await ask(field, json), {
          status: 400,
          code: ["invalid_type", "out_of_range"],
        });
        expect(problem.errors[0]?.pointer, json).toBe(`/${field}`);
      }
    },
  );

  test.each([
    ["fen", noTexts],
    ["engine", noTexts.filter((json) => json !== "null")],
    ["path", [...noTexts.filter((json) => json !== "null"), '"WASM"', '"PATH_WASM"', '"0"', "1"]],
    ["moves", ['"e2e4"', "{}", "0", "[0]", "[null]", "[[]]", '[""]']],
    ["options", ['"x"', "0", "true", "[]", "[1]"]],
  ])("%s refuses a value of a wrong type", async (field, values) => {
    for (const json of values) {
      expectProblem(await ask(field, json), { status: 400 }, json);
      expectProblem(await ask(field, json, "/v1/bestmove"), { status: 400 }, json);
    }
  });

  test.each(["skill_level", "uci_limit_strength", "uci_elo", "uci_chess960"])(
    "the option %s refuses a value of a wrong type or outside its range",
    async (option) => {
      const wrong = ["null", '"1"', "1.5", "-1", "1e400", "99999", "[]", "{}", '"true"', "9007199254740993"];
      for (const json of wrong) {
        expectProblem(await ask("options", `{"${option}":${json}}`), { status: 400 }, json);
      }
    },
  );

  test.each([
    { depth: 1 },
    { depth: 30, movetime_ms: 50 },
    { multipv: 1, depth: 2 },
    { multipv: 10, depth: 2 },
    { movetime_ms: 50 },
    { movetime_ms: 60_000, depth: 1 },
  ])("a request with the smallest or greatest allowed values is accepted: %o", async (fields) => {
    const answer = await service.post("/v1/eval", { fen: startFen, ...fields });
    expect(answer.status, answer.body).toBe(200);
  });
});

describe("09: unknown fields, options and words are refused", () => {
  const long = "Qwert".repeat(60);

  test.each([
    ["a field", `{"fen":"${startFen}","${long}":1}`, "unknown_field"],
    ["a field with a long value", `{"fen":"${startFen}","x":"${long}"}`, "unknown_field"],
    ["a field of another case", `{"fen":"${startFen}","Depth":1}`, "unknown_field"],
    ["a field as protobuf writes it", `{"fen":"${startFen}","movetimeMs":50}`, "unknown_field"],
    ["an extension", `{"fen":"${startFen}","[a.b.c]":1}`, "unknown_field"],
    ["a type", `{"fen":"${startFen}","@type":"type.googleapis.com/x"}`, "unknown_field"],
    ["a path", `{"fen":"${startFen}","path":"${long}"}`, "out_of_range"],
    ["an engine", `{"fen":"${startFen}","engine":"${long}"}`, ["unknown_engine", "out_of_range"]],
    ["an option", `{"fen":"${startFen}","options":{"${long}":1}}`, "option_not_allowed"],
    [
      "an option with a long value",
      `{"fen":"${startFen}","options":{"skill_level":"${long}"}}`,
      "invalid_option",
    ],
    ["an option as UCI writes it", `{"fen":"${startFen}","options":{"Skill Level":1}}`, "option_not_allowed"],
    ["a FEN", `{"fen":"${long}"}`, ["invalid_fen", "out_of_range"]],
    ["a move", `{"fen":"${startFen}","moves":["${long}"]}`, ["illegal_move", "out_of_range"]],
  ])(
    "an unknown or invalid name or value is refused, and the response does not repeat a long text: %s",
    async (_, body, code) => {
      for (const call of ["/v1/eval", "/v1/bestmove", "/v1/eval/stream"]) {
        expectProblem(await service.post(call, body), { status: 400, code }, body);
      }
      const rpc = await service.post(rpcOf("Evaluate"), body);
      // The JSON format of protobuf accepts both names of a field.
      expect(rpc.status).toBe(body.includes("movetimeMs") ? 200 : 400);
      expect(rpc.body).not.toContain(long.slice(0, 65));
    },
  );

  test.each([
    { uci_elo: 1500 },
    { uci_elo: 1500, uci_limit_strength: false },
    { uci_elo: 1500, uci_limit_strength: true, skill_level: 3 },
  ])("options that contradict each other are refused: %o", async (options) => {
    expectProblem(await service.post("/v1/eval", { fen: startFen, options }), {
      status: 400,
      code: "invalid_option",
    });
  });
});
