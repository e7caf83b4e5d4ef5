import type { MoveReview } from "../../../gen/chess/analysis/v1/game_pb.ts";
import type { Position } from "../../../src/chess/position.ts";

export type Side = "white" | "black";

/** An attempt may lose this many points of the winning chances that the best move keeps. */
const lossMaxPoints = 5;

const percents = { "1-0": 100, "0-1": 0, "1/2-1/2": 50 } as const;

/** Returns White's chances in percent after a move if the review or the rules know them, so that no request is needed. */
export function knownPercent(mistake: MoveReview, uci: string, after: Position): number | undefined {
  const { best, move, evaluation } = mistake;
  if (after.terminal) {
    return percents[after.terminal.result];
  }
  if (uci === best?.move?.uci) {
    return best.score?.winPercent;
  }
  return uci === move?.uci
    ? evaluation?.winPercent
    : best?.alternatives.find((other) => other.move?.uci === uci)?.score?.winPercent;
}

/** @param percent White's chances after the attempt */
export function isGoodAttempt({ best }: MoveReview, percent: number, side: Side): boolean {
  const loss = (best?.score?.winPercent ?? 0) - percent;
  return (side === "white" ? loss : -loss) <= lossMaxPoints;
}
