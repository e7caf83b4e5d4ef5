import type { MoveReview } from "../../../gen/chess/analysis/v1/game_pb.ts";
import type { Position } from "../../../src/chess/position.ts";

export type Side = "white" | "black";

/** An attempt may lose this many points of the winning chances that the best move keeps. */
const lossMaxPoints = 5;

const percents = { "1-0": 100, "0-1": 0, "1/2-1/2": 50 } as const;

/**
 * Returns White's chances in percent after a move if the review or the rules know them, so that no request is needed. Does not
 * use the scores of alternatives: they are the engine's, and endgame tables may know another result.
 *
 * @param before White's chances in percent before the mistake
 */
export function knownPercent(
  { best, move, evaluation }: MoveReview,
  before: number | undefined,
  uci: string,
  after: Position,
): number | undefined {
  if (after.terminal) {
    return percents[after.terminal.result];
  }
  return uci === best?.move?.uci ? before : uci === move?.uci ? evaluation?.winPercent : undefined;
}

/**
 * @param before White's chances in percent before the mistake
 * @param percent White's chances in percent after the attempt
 */
export function isGoodAttempt(before: number, percent: number, side: Side): boolean {
  const loss = before - percent;
  return (side === "white" ? loss : -loss) <= lossMaxPoints;
}
