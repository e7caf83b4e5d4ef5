import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { useApp } from "../../support/running-app.ts";
import { agentKinds, type Step } from "./agents.ts";

const app = useApp({ KIBITZ_CACHE_MB: "0" }, { engines: createEnginesInProcess() });

/** Tool calls, each with words that the text of its result must contain. */
const questions = [
  [
    "analyze_position",
    { moves: ["e4", "e5"], depth: 6, multipv: 2 },
    ["White to move", "8 r n b q k b n r", "#2"],
  ],
  [
    "analyze_position",
    { pgn: "1. e4 e5 2. Nf3 Nc6 *", ply: 1, depth: 4 },
    ["Black to move", "4 . . . . P . . ."],
  ],
  [
    "analyze_position",
    { fen: "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1" },
    ["Game over: Draw by stalemate", "1/2-1/2"],
  ],
  [
    "compare_moves",
    { candidates: ["e4", "d4", "g1f3"], depth: 4 },
    ["Best of these for White", "#3", "(g1f3)"],
  ],
  [
    "compare_moves",
    { candidates: ["e4", "e2e4", "d4"], depth: 4 },
    ["#2", "Note: Some candidates are the same move."],
  ],
  [
    "compare_moves",
    { fen: "8/8/4k3/8/8/4K3/8/8 w - - 0 1", candidates: ["Kd3", "Kf3"] },
    ["Game over: Draw by insufficient material. Result: 1/2-1/2.", "White to move"],
  ],
  [
    "compare_moves",
    { fen: "4k3/8/8/8/8/8/P7/4K3 w - - 150 90", candidates: ["Kd1", "a3"] },
    ["Game over: Draw by the 75-move rule. Result: 1/2-1/2."],
  ],
  [
    "compare_moves",
    { moves: Array.from({ length: 4 }, () => ["Nf3", "Nf6", "Ng1", "Ng8"]).flat(), candidates: ["e4", "d4"] },
    ["Game over: Draw by fivefold repetition. Result: 1/2-1/2."],
  ],
  [
    "review_game",
    { moves: ["f3", "e5", "g4", "Qh4#"], depth: 4 },
    ["4 half-moves", "White: accuracy", "White to move"],
  ],
  [
    "analyze_position",
    { moves: '["e4", "e5"]', depth: "4", multipv: "2", pgn: "", ply: "", fen: "", engine: "", nodes: null },
    ["White to move", "depth 4", "#2"],
  ],
  ["analyze_position", { pgn: "1. e4 e5 *", ply: "1", depth: 2, fen: " ", moves: "[]" }, ["Black to move"]],
  ["compare_moves", { candidates: '["e4","d4"]', depth: " 4 ", moves: [] }, ["Best of these for White"]],
  ["review_game", { pgn: "", fen: "", moves: '["f3","e5"]', depth: "2" }, ["2 half-moves"]],
  ["play_moves", { moves: ["e4", "c5", "Nf3"] }, ["Black to move", "Legal moves (22)", "Nc6 (b8c6)"]],
] as const;

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
const validators = new Map<string, ValidateFunction>();

/** Compiles each schema only once, because all clients get the same schemas. */
function validatorOf(schema: object): ValidateFunction {
  const text = JSON.stringify(schema);
  const validator = validators.get(text) ?? ajv.compile(schema);
  validators.set(text, validator);
  return validator;
}

describe.each(agentKinds)("an agent of $name", ({ overHttp }) => {
  test("an MCP client can list the tools with their descriptions, and all tools are marked as read-only", async () => {
    const agent = await overHttp(app.url);
    const tools = await agent.list();
    expect(tools.map(({ name }) => name)).toEqual([
      "analyze_position",
      "compare_moves",
      "review_game",
      "play_moves",
    ]);
    for (const { title, description, annotations, inputSchema, outputSchema } of tools) {
      expect([title, description]).toEqual([expect.stringMatching(/\w/), expect.stringMatching(/\.$/)]);
      expect(annotations).toMatchObject({
        readOnlyHint: true,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false,
      });
      expect([inputSchema.type, outputSchema?.type]).toEqual(["object", "object"]);
    }
    expect(agent.instructions).toContain("startpos");
  });

  test.each(questions)(
    "the result of the MCP tool %s matches its schema for %o",
    async (tool, args, words) => {
      const agent = await overHttp(app.url);
      const { text, structured, isError } = await agent.ask(tool, args);
      expect(isError, text).toBe(false);
      expect(text).toContain("FEN: ");
      for (const word of words) {
        expect(text).toContain(word);
      }
      expect(text.length).toBeLessThanOrEqual(4000);
      const schema = (await agent.list()).find(({ name }) => name === tool)?.outputSchema;
      const isValid = validatorOf(schema ?? expect.fail("the tool has no schema of its answers"));
      expect(isValid(structured), ajv.errorsText(isValid.errors)).toBe(true);
      expect(structured).toMatchObject({ fen: expect.stringMatching(/ [wb] /), board: expect.any(String) });
    },
  );

  test.each([
    ["analyze_position", { depth: 6 }],
    ["compare_moves", { candidates: ["e4", "d4"], depth: 6 }],
    ["review_game", { moves: ["e4", "e5", "Nf3"], depth: 3 }],
  ])("an MCP client that asks for progress gets the progress of %s", async (tool, args) => {
    const steps: Step[] = [];
    const agent = await overHttp(app.url);
    const { isError } = await agent.ask(tool, args, { onprogress: (step) => void steps.push(step) });
    expect(isError).toBe(false);
    const progress = steps.map((step) => step.progress);
    expect(progress.length).toBeGreaterThan(1);
    expect(progress).toEqual([...new Set(progress)].toSorted((one, other) => one - other));
    expect(steps.at(-1)?.message).toMatch(/(White|Black|equal) /);
  });
});
