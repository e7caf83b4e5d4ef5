import { expect, test, vi } from "vitest";
import { createRulebook } from "../../../src/calls/rulebook.ts";
import { correctArguments } from "../../../src/protocols/mcp/arguments.ts";
import type { Caller } from "../../../src/protocols/mcp/caller.ts";
import { ClientDisconnected } from "../../../src/request/context.ts";
import { createTimeSlicer } from "../../../src/thread/time-slices.ts";
import { longGame } from "../../abuse/long-game.ts";

const moves = longGame(590);
const charge = { async withoutSearch() {}, async refuseUsedUp() {} };

/** Plays moves by the rules of chess. `seen` has the number of moves of each game that is played. */
function callerOf(check = () => {}) {
  const rulebook = createRulebook({ beginWork: createTimeSlicer(), charge });
  const seen: number[] = [];
  const playUncounted: Caller["playUncounted"] = (from) => {
    seen.push(from.moves.length);
    return rulebook.play(from, check);
  };
  return { caller: { ...rulebook, playUncounted } as unknown as Caller, seen };
}

test("a long game is played once for all candidates of compare_moves", async () => {
  const { caller, seen } = callerOf();
  const start = ["e4", "e5"];
  const candidates = ["nf3", "F4", "1.Bc4!", "D2D4"];
  const { args } = await correctArguments({ moves: start, candidates }, caller);
  expect(args.candidates).toEqual(["Nf3", "f4", "1.Bc4!", "d2d4"]);
  expect(seen.filter((count) => count === start.length)).toHaveLength(1);
  expect(Math.max(...seen)).toBe(start.length);
});

test("if the client disconnects, the moves of an MCP tool are not corrected any more", async () => {
  const check = vi
    .fn()
    .mockImplementationOnce(() => {})
    .mockImplementation(() => {
      throw new ClientDisconnected();
    });
  const { caller, seen } = callerOf(check);
  const asked = correctArguments({ moves: [...moves, "E5!"], candidates: ["a3!", "b3!"] }, caller);
  await expect(asked).rejects.toThrow(ClientDisconnected);
  expect(seen).toHaveLength(1);
});
