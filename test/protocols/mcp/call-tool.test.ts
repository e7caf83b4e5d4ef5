import { expect, test, vi } from "vitest";
import { fromThisProcess } from "../../../src/calls/call.ts";
import { createRulebook } from "../../../src/calls/rulebook.ts";
import { errorFromViolations } from "../../../src/errors/errors.ts";
import { callTool } from "../../../src/protocols/mcp/call-tool.ts";
import { createCaller } from "../../../src/protocols/mcp/caller.ts";
import { reviewGame } from "../../../src/protocols/mcp/tools/review-game.ts";
import { createTimeSlicer } from "../../../src/thread/time-slices.ts";
import { errorOf, gameOf } from "../../game/games.ts";

const unexpected = () => expect.fail("nobody should ask that");

function failWith(error: unknown, args: Readonly<Record<string, unknown>>) {
  const rulebook = createRulebook({
    beginWork: createTimeSlicer(),
    charge: { withoutSearch: unexpected, refuseUsedUp: unexpected },
  });
  const readGame = vi.spyOn(rulebook, "readGame");
  const play = vi.spyOn(rulebook, "play");
  const caller = createCaller({
    plain: () => ({ once: unexpected, stream: unexpected, check: unexpected }),
    rulebook,
    context: fromThisProcess(),
  });
  const tool = { ...reviewGame, call: () => Promise.reject(error) };
  const { signal } = new AbortController();
  const refused = vi.fn(async () => {});
  const call = () => callTool(tool, args, { caller, signal, refused });
  return { call, readGame, play, refused };
}

test("an MCP error about an illegal move in a PGN lists the legal moves, without reading the game again", async () => {
  const pgn = `1. e4 {${"long ".repeat(10_000)}} e5 2. Ke3 *`;
  const error = errorOf(() => gameOf(pgn));
  const { call, readGame, play, refused } = failWith(error, { pgn });
  const { content, _meta: meta } = await call();
  const text = JSON.stringify(content);
  expect(text).toContain("(after 2 half-moves): White to move");
  expect(text).toContain("Ke2 (e1e2)");
  expect(meta?.["kibitz/suggested_call"]).toMatchObject({ name: "play_moves", arguments: { moves: [] } });
  expect(refused).toHaveBeenCalledExactlyOnceWith(error);
  expect(readGame).not.toHaveBeenCalled();
  expect(play.mock.calls.map(([{ moves }]) => moves)).toEqual([[]]);
});

test("an MCP error about an illegal move is sent even if listing the legal moves fails, and the failure is logged", async () => {
  const error = errorFromViolations([
    { pointer: "/moves/1", code: "illegal_move", message: "'Ke3' is not legal." },
  ]);
  const { call, play, refused } = failWith(error, { moves: ["e4", "Ke3"] });
  const broken = new Error("the rules are broken");
  play.mockRejectedValue(broken);
  const { content } = await call();
  expect(content).toEqual([{ type: "text", text: "Not answered (illegal_move): 'Ke3' is not legal." }]);
  expect(refused.mock.calls).toMatchObject([[error], [{ code: "internal", cause: broken }]]);
});
