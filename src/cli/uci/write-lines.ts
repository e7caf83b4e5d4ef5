import type * as pb from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import type { EvaluateResponse } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import type { Color } from "../../chess/position.ts";
import { type Score, scoreForWhite } from "../../chess/score.ts";
import { scoreFromMessage } from "../score-from-message.ts";

/** Returns an `info` line for each principal variation, best first. Scores are from the point of view of the side to move. */
export function infoLines(
  { lines, score, search }: EvaluateResponse,
  turn: Color,
  withWdl: boolean,
): readonly string[] {
  if (lines.length === 0) {
    return [`info depth 0 score ${scoreText(scoreOfTurn(score, turn), withWdl)}`];
  }
  const { nodes = 0n, nps = 0n, hashfull = 0, tbhits = 0n, timeMs = 0 } = search ?? {};
  return lines.map(({ depth, seldepth, score, moves }, index) =>
    [
      `info depth ${depth} seldepth ${seldepth} multipv ${index + 1}`,
      `score ${scoreText(scoreOfTurn(score, turn), withWdl)}`,
      `nodes ${nodes} nps ${nps} hashfull ${hashfull} tbhits ${tbhits} time ${timeMs}`,
      `pv ${moves.join(" ")}`,
    ].join(" "),
  );
}

/** Converts a score from White's point of view to the point of view of the side to move. */
export function scoreOfTurn(score: pb.Score | undefined, turn: Color): Score {
  return scoreForWhite(scoreFromMessage(score), turn);
}

const bounds = { exact: "", lower: " lowerbound", upper: " upperbound" } as const;

function scoreText({ value, bound, wdl }: Score, withWdl: boolean): string {
  const number = value.kind === "cp" ? `cp ${value.cp}` : `mate ${value.mate}`;
  const chances = withWdl && wdl ? ` wdl ${wdl.win} ${wdl.draw} ${wdl.loss}` : "";
  return `${number}${bounds[bound]}${chances}`;
}
