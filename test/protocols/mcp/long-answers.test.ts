import { describe, expect, test } from "vitest";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { useApp } from "../../support/running-app.ts";
import { newest, type Step } from "./agents.ts";

describe("tools over HTTP", () => {
  const app = useApp({}, { engines: createEnginesInProcess() });
  const shuffle = Array.from({ length: 100 }, () => ["Nf3", "Nf6", "Ng1", "Ng8"]).flat();

  test.each([
    ["analyze_position", { multipv: 10, depth: 18 }],
    ["analyze_position", { moves: shuffle.slice(0, 12), multipv: 10, depth: 18 }],
    ["compare_moves", { candidates: ["e4", "d4", "c4", "Nf3", "g3"], depth: 18 }],
    ["review_game", { moves: shuffle, depth: 1 }],
    ["review_game", { pgn: `[White "${"W".repeat(4000)}"]\n\n1. f3 e5 2. g4 Qh4# 0-1`, depth: 1 }],
    ["play_moves", { fen: "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1" }],
  ])(
    "the text of the MCP tool %s has at most 4000 characters and is complete; arguments: %o",
    async (tool, args) => {
      const result = await (await newest.overHttp(app.url)).ask(tool, args);
      expect(result.isError, result.text).toBe(false);
      expect(result.text.length).toBeLessThanOrEqual(4000);
      expect(result.text).toContain("  a b c d e f g h");
    },
  );

  test.each([
    ["without a depth", {}, undefined],
    ["with a depth", { depth: 20 }, 20],
  ])("an MCP client gets the progress of a search that is limited by nodes: %s", async (_, depth, total) => {
    const agent = await newest.overHttp(app.url);
    const steps: Step[] = [];
    const args = { moves: ["e4", "c5"], nodes: 300, ...depth };
    const result = await agent.ask("analyze_position", args, { onprogress: (step) => void steps.push(step) });
    expect(result.isError, result.text).toBe(false);
    const depths = steps.map(({ progress }) => progress);
    expect(depths.length).toBeGreaterThan(1);
    expect(depths).toEqual([...new Set(depths)].toSorted((one, other) => one - other));
    expect(steps.every((step) => step.total === total)).toBe(true);
    // The depth of the answer equals the last reported progress.
    expect(result.structured).toMatchObject({ depth: depths.at(-1) });
    expect(result.structured?.nodes).toBeGreaterThanOrEqual(300);
  });
});
