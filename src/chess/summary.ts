import type { Color, Terminal, TerminalReason } from "./position.ts";
import type { Score } from "./score.ts";

export interface SummaryInput {
  /** In White's view. */
  readonly score: Score;
  /** Undefined when the game is over. */
  readonly bestMoveSan: string | undefined;
  readonly terminal: Terminal | undefined;
  readonly turn: Color;
}

/** From how many centipawns on, for either side, each word is used. */
const slightlyBetterCp = 25;
const betterCp = 100;
const winningCp = 300;

const names = { white: "White", black: "Black" } as const;

const draws: Record<Exclude<TerminalReason, "checkmate">, string> = {
  stalemate: "stalemate",
  insufficient_material: "insufficient material",
  seventyfive_moves: "the 75-move rule",
  fivefold_repetition: "fivefold repetition",
};

/**
 * The answer in a sentence or two, for people and language models. Below 25 centipawns a position is equal, from 25 a
 * side is slightly better, from 100 clearly better, from 300 winning; Stockfish scales 100 to an even chance of winning.
 */
export function summarize(input: SummaryInput): string {
  const { score, bestMoveSan, terminal, turn } = input;
  if (terminal) {
    return sentenceOfTerminal(terminal);
  }
  const { sentence, ahead } = sentenceOfScore(score);
  if (bestMoveSan === undefined) {
    return sentence;
  }
  // After "White mates in 3", a bare move of Black's would be taken for White's.
  const whose = ahead !== undefined && ahead !== turn ? ` for ${names[turn]}` : "";
  return `${sentence} Best move${whose}: ${bestMoveSan}.`;
}

function sentenceOfTerminal(terminal: Terminal): string {
  if (terminal.reason !== "checkmate") {
    return `Draw by ${draws[terminal.reason]}.`;
  }
  return `Checkmate: ${terminal.winner === "black" ? "Black" : "White"} has won.`;
}

function sentenceOfScore({ value, bound }: Score): { sentence: string; ahead: Color | undefined } {
  if (value.kind === "mate") {
    const ahead = value.mate > 0 ? "white" : "black";
    return { sentence: `${names[ahead]} mates in ${Math.abs(value.mate)}.`, ahead };
  }
  const limit = { exact: "", lower: "at least ", upper: "at most " }[bound];
  const pawns = `(${limit}${signedPawns(value.cp)})`;
  const size = Math.abs(value.cp);
  if (size < slightlyBetterCp) {
    return { sentence: `The position is equal ${pawns}.`, ahead: undefined };
  }
  const ahead = value.cp > 0 ? "white" : "black";
  const grade = size < betterCp ? "slightly better" : size < winningCp ? "clearly better" : "winning";
  return { sentence: `${names[ahead]} is ${grade} ${pawns}.`, ahead };
}

function signedPawns(cp: number): string {
  const sign = cp > 0 ? "+" : cp < 0 ? "-" : "";
  return `${sign}${(Math.abs(cp) / 100).toFixed(2)}`;
}
