import { expect } from "vitest";
import type { Tablebase } from "../../../src/tablebase/tablebase.ts";
import { positionOf } from "../../chess/validated.ts";
import type { Ending, Referee } from "../../fuzz/referee/referee.ts";

/**
 * Plays the longest wins of these endings against the longest defence of python-chess: first with the latest clock that leaves a win,
 * and then with a clock that is too late.
 */
export async function playOutWins(
  tablebase: Tablebase,
  referee: Referee,
  folder: string,
  endings: readonly Ending[],
  games: number,
): Promise<void> {
  const wins = endings.filter(({ result, distance }) => result === 2 && distance > 1);
  expect(wins.length).toBeGreaterThanOrEqual(games);
  for (const { fen, distance } of wins.toSorted((a, b) => b.distance - a.distance).slice(0, games)) {
    const latest = withClock(fen, 99 - distance);
    expect(await categoryOf(latest)).toBe("win");
    expect(await playOut(latest), latest).toBe("mate");

    for (const clock of [100 - distance, 101 - distance, 103 - distance]) {
      expect(await categoryOf(withClock(fen, clock))).toBe("cursed_win");
    }
    // Even the shortest way is too long by a ply, or more if the distance is rounded.
    expect(await playOut(withClock(fen, 102 - distance))).toBe("draw");
  }

  async function categoryOf(fen: string): Promise<string> {
    const answer = await tablebase.probe(positionOf(fen));
    return answer.kind === "known" ? answer.value.category : answer.message;
  }

  /** Plays the first move of the table for the side that wins, and the move of python-chess for the other side. */
  async function playOut(fen: string): Promise<"mate" | "draw"> {
    let position = positionOf(fen);
    for (;;) {
      const answer = await tablebase.probeMoves(position);
      const [best] = answer.kind === "known" ? answer.value.moves : [];
      if (!best) {
        return "draw";
      }
      position = positionOf(position.fen, { moves: [best.uci] });
      if (position.terminal) {
        return position.terminal.reason === "checkmate" ? "mate" : "draw";
      }
      const reply = await referee.defend(folder, position.fen);
      if (reply === undefined) {
        return "draw";
      }
      position = positionOf(position.fen, { moves: [reply] });
    }
  }
}

function withClock(fen: string, clock: number): string {
  const fields = fen.split(" ");
  return [...fields.slice(0, 4), clock, 60].join(" ");
}
