import { beforeAll, describe, expect, test } from "vitest";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { rateOf, usePlansFile } from "../../support/plans-file.ts";
import { useApp } from "../../support/running-app.ts";
import { tablesFolder, verifyTablesOf } from "../../support/tables.ts";
import { newest } from "./agents.ts";

/** The black king attacks the rook. The fake engine lists the moves of the white king, which lose the rook, first. */
const rookHangs = "8/8/8/3k4/4R3/8/8/K7 w - - 0 1";

describe("MCP tools of a service with endgame tables", () => {
  const app = useApp({ KIBITZ_SYZYGY: tablesFolder }, { engines: createEnginesInProcess() });
  beforeAll(() => verifyTablesOf(app.url));
  const ask = async (tool: string, args: Readonly<Record<string, unknown>>) => {
    const result = await (await newest.overHttp(app.url)).ask(tool, args);
    expect(result.isError, result.text).toBe(false);
    return result;
  };

  test("the MCP tool analyze_position says the result that endgame tables know, in its text and its data", async () => {
    const { text, structured } = await ask("analyze_position", { fen: rookHangs, depth: 4 });
    expect(text).toMatch(
      /^White wins \(tablebase\); about \d+ half-moves to the next capture, pawn move or mate; the engine says White \+\d\.\d\d\. Best move: R/,
    );
    expect(text).toContain("Note: The engine's move Ka2 could give away the result");
    expect(structured?.tablebase).toEqual({
      category: "win",
      winner: "white",
      dtz_plies: expect.any(Number),
      men: 3,
    });
    expect(structured?.score).toMatchObject({ win_percent: 100 });
  });

  test("the MCP tool analyze_position says that the fifty-move rule makes a draw", async () => {
    const { text, structured } = await ask("analyze_position", {
      fen: "8/8/8/8/8/2k5/8/K6Q w - - 98 80",
      depth: 3,
    });
    expect(text).toMatch(/^Draw by the fifty-move rule \(tablebase\); /);
    expect(structured?.tablebase).toMatchObject({ category: "cursed_win", winner: null });
  });

  test("the MCP tool analyze_position has no tablebase for a position that no table knows", async () => {
    const { text, structured } = await ask("analyze_position", { depth: 2 });
    expect(text).toMatch(/^.+ \(White's winning chances /);
    expect(structured?.tablebase).toBeNull();
  });

  test("the MCP tool compare_moves ranks moves by the endgame tables", async () => {
    const candidates = ["Ka2", "Rh4", "Kb1"];
    const { text, structured } = await ask("compare_moves", { fen: rookHangs, candidates, depth: 4 });
    expect(text).toMatch(
      /^White wins \(tablebase\)\.\n\nBest of these for White: Rh4 \(e4h4\), White wins \(tablebase\) \(depth 4, .+\)\.\n\n#1 Rh4 \(e4h4\): White wins \(tablebase\)\. Line: .+\n#2 \S+ \(\w{4}\): Draw \(tablebase\); 50\.0 points of winning chances worse\. /,
    );
    const draw = {
      tablebase: { category: "draw", winner: null, dtz_plies: null },
      loss_cp: null,
      win_percent_loss: 50,
    };
    expect(structured?.moves).toMatchObject([
      {
        rank: 1,
        uci: "e4h4",
        score: { win_percent: 100 },
        tablebase: { category: "loss", winner: "white", dtz_plies: expect.any(Number) },
        loss_cp: 0,
        win_percent_loss: 0,
      },
      { ...draw, rank: 2 },
      { ...draw, rank: 3 },
    ]);
  });

  test("the MCP tool review_game says the results by which moves are judged", async () => {
    const { text, structured } = await ask("review_game", {
      fen: rookHangs,
      moves: ["Rh4", "Kd6", "Ra4", "Kc5", "Ka2", "Kb5", "Kb1"],
      depth: 4,
    });
    expect(text).toMatch(
      /4\. Kb1 \(a2b1\): blunder, White wins \(tablebase\) → Draw \(tablebase\); best R\S+ \(a4\w\w\)$/m,
    );
    const moves = structured?.moves as readonly unknown[];
    expect(moves[0]).toMatchObject({
      tablebase: { category: "loss", winner: "white", men: 3 },
      judgement: null,
    });
    expect(moves.at(-1)).toMatchObject({ tablebase: { category: "draw" }, judgement: "blunder" });
  });
});

describe("the MCP tool compare_moves of a service with endgame tables and limits", () => {
  const plansFile = usePlansFile({ id: "keyless", limits: { rates: [rateOf("burst", 30, 3600)] } });
  const settings = { KIBITZ_SYZYGY: tablesFolder, KIBITZ_ACCESS: "public", KIBITZ_PLANS: plansFile };
  const app = useApp(settings, { engines: createEnginesInProcess() });
  beforeAll(() => verifyTablesOf(app.url));

  test("the MCP tool compare_moves counts as one request, although it also looks up the moves", async () => {
    const agent = await newest.overHttp(app.url);
    const ask = async () =>
      (await agent.ask("compare_moves", { fen: rookHangs, candidates: ["Rh4", "Ka2"], depth: 4 })).structured;
    const remaining = async () => {
      const response = await fetch(`${app.url}/v1/tablebase?fen=startpos`);
      await response.text();
      return Number(/r=(\d+)/.exec(response.headers.get("ratelimit") ?? "")?.[1]);
    };
    const before = await remaining();
    expect(await ask()).toMatchObject({ moves: [{ tablebase: { winner: "white" } }, {}] });
    // One of the two is counted for the look-up that shows the remaining requests.
    expect(before - (await remaining())).toBe(2);
  });
});
