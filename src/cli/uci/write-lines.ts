import type { Color } from "../../chess/position.ts";
import { type Score, scoreForWhite } from "../../chess/score.ts";
import { withoutControls } from "../../text/plain-text.ts";
import type { State } from "./analyst.ts";

/** How states are to be told. */
interface Telling {
  /** Whose point of view scores are from: UCI wants that of the side to move. */
  readonly turn: Color;
  readonly wdl: boolean;
}

/** An info line for each principal variation, best first. */
export function infoLines(state: State, { turn, wdl }: Telling): readonly string[] {
  const { nodes, nps, hashfull, tbhits, timeMs } = state;
  if (state.lines.length === 0) {
    return [`info depth 0 score ${scoreText(scoreOfTurn(state.score, turn), wdl)}`];
  }
  return state.lines.map(({ depth, seldepth, score, moves }, index) =>
    [
      `info depth ${depth} seldepth ${seldepth} multipv ${index + 1}`,
      `score ${scoreText(scoreOfTurn(score, turn), wdl)}`,
      `nodes ${nodes} nps ${nps} hashfull ${hashfull} tbhits ${tbhits} time ${timeMs}`,
      `pv ${moves.join(" ")}`,
    ].join(" "),
  );
}

/** What a person may want to know, in one line. */
export function infoString(text: string): string {
  return `info string ${withoutControls(text)}`;
}

/** @param best undefined where there is no legal move. */
export function bestMoveLine(best: string | undefined, ponder?: string): string {
  return `bestmove ${best ?? "(none)"}${ponder === undefined ? "" : ` ponder ${ponder}`}`;
}

/** To turn a score around is the same both ways. */
export function scoreOfTurn(score: Score, turn: Color): Score {
  return scoreForWhite(score, turn);
}

const bounds = { exact: "", lower: " lowerbound", upper: " upperbound" } as const;

function scoreText({ value, bound, wdl }: Score, withWdl: boolean): string {
  const number = value.kind === "cp" ? `cp ${value.cp}` : `mate ${value.mate}`;
  const chances = withWdl && wdl ? ` wdl ${wdl.win} ${wdl.draw} ${wdl.loss}` : "";
  return `${number}${bounds[bound]}${chances}`;
}
