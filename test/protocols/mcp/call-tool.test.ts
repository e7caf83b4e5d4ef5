import { expect, test, vi } from "vitest";
import { fromThisProcess } from "../../../src/calls/call.ts";
import { createRulebook } from "../../../src/calls/rulebook.ts";
import { callTool } from "../../../src/protocols/mcp/call-tool.ts";
import { createCaller } from "../../../src/protocols/mcp/caller.ts";
import { reviewGame } from "../../../src/protocols/mcp/tools/review-game.ts";
import { createTimeSlicer } from "../../../src/thread/event-loop.ts";
import { errorOf, gameOf } from "../../game/games.ts";

const nobody = () => expect.fail("nobody should ask that");

test("the text about an illegal move in a PGN has the legal moves, and the game is not read or played for it again", async () => {
  const pgn = `1. e4 {${"long ".repeat(10_000)}} e5 2. Ke3 *`;
  const error = errorOf(() => gameOf(pgn));
  const rulebook = createRulebook({
    beginWork: createTimeSlicer(),
    gate: { admitRules: nobody, refuseUsedUp: nobody },
  });
  const readGame = vi.spyOn(rulebook, "readGame");
  const play = vi.spyOn(rulebook, "play");
  const judge = vi.fn(async () => {});
  const caller = createCaller({
    plain: { once: nobody, stream: nobody, check: nobody, judge },
    rulebook,
    context: fromThisProcess(),
  });
  const tool = { ...reviewGame, call: () => Promise.reject(error) };
  const { signal } = new AbortController();
  const refused = vi.fn(async () => {});
  const { content, _meta: meta } = await callTool(tool, { pgn }, { caller, signal, refused });
  const text = JSON.stringify(content);
  expect(text).toContain("(after 2 half-moves): White to move");
  expect(text).toContain("Ke2 (e1e2)");
  expect(meta?.["kibitz/suggested_call"]).toMatchObject({
    arguments: { pgn: pgn.slice(0, -" 2. Ke3 *".length) },
  });
  // The suggestion is read once, as every request that would be answered.
  expect(judge).toHaveBeenCalledOnce();
  expect(refused).toHaveBeenCalledExactlyOnceWith(error);
  expect(readGame).not.toHaveBeenCalled();
  expect(play.mock.calls.map(([{ moves }]) => moves)).toEqual([[]]);
});
