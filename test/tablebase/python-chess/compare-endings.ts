import type { Tablebase } from "../../../src/tablebase/tablebase.ts";
import { positionOf } from "../../chess/validated.ts";
import type { Ending } from "../../fuzz/referee/referee.ts";

/** From the result of a loss to the result of a win. */
const categories = ["loss", "blessed_loss", "draw", "cursed_win", "win"] as const;

/** Returns the positions in which Kibitz and python-chess differ. The half-move clock of all positions is 0. */
export async function differencesOf(
  tablebase: Tablebase,
  endings: readonly Ending[],
): Promise<readonly unknown[]> {
  const differences: unknown[] = [];
  for (const { fen, result, distance } of endings) {
    const expected = `${categories[result + 2]} ${distance === 0 ? undefined : Math.abs(distance)}`;
    const answer = await tablebase.probe(positionOf(fen));
    const found =
      answer.kind === "known" ? `${answer.value.category} ${answer.value.dtzPlies}` : answer.message;
    if (found !== expected) {
      differences.push({ fen, expected, found });
    }
  }
  return differences;
}
