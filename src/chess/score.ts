import type { Color, Terminal, TerminalReason } from "./position.ts";

/** `lower`: the true score is at least this score. `upper`: the true score is at most this score. */
export type Bound = "exact" | "lower" | "upper";

export interface Wdl {
  readonly win: number;
  readonly draw: number;
  readonly loss: number;
}

/** `cp`: centipawns. `mate`: full moves until mate. This number is negative for the losing side, and 0 after mate. */
export type ScoreValue =
  | { readonly kind: "cp"; readonly cp: number }
  | { readonly kind: "mate"; readonly mate: number };

/** Scores from engines are from the point of view of the side to move. Scores in responses are from White's point of view. */
export interface Score {
  readonly value: ScoreValue;
  readonly bound: Bound;
  readonly wdl: Wdl | undefined;
}

const swappedBound = { exact: "exact", lower: "upper", upper: "lower" } as const;

/** Converts a score from the point of view of the side to move to White's point of view, or back. */
export function scoreForWhite(score: Score, turn: Color): Score {
  if (turn === "white") {
    return score;
  }
  const { value, bound, wdl } = score;
  return {
    value:
      value.kind === "cp"
        ? { kind: "cp", cp: opposite(value.cp) }
        : { kind: "mate", mate: opposite(value.mate) },
    bound: swappedBound[bound],
    wdl: wdl && { win: wdl.loss, draw: wdl.draw, loss: wdl.win },
  };
}

/** A result that is certain: by the rules, or by an endgame table. */
export interface KnownResult {
  /** Undefined for a draw. */
  readonly winner: Color | undefined;
}

/**
 * Returns 0 to 100 with one decimal. `score` is from White's point of view. If the result is known, it decides. It is required if the game
 * has ended by mate.
 */
export function winPercent({ value }: Score, known?: KnownResult): number {
  if (known) {
    return known.winner === undefined ? 50 : known.winner === "white" ? 100 : 0;
  }
  if (value.kind === "cp") {
    return Math.round(10 * winPercentOfCp(value.cp)) / 10;
  }
  if (value.mate === 0) {
    throw new TypeError("mate 0 has no sign: winPercent() needs the winner");
  }
  return value.mate > 0 ? 100 : 0;
}

/** Converts centipawns to chances from −1 (lost) to 1 (won). The formula is from https://lichess.org/page/accuracy. */
export function winningChances(cp: number): number {
  return 2 / (1 + Math.exp(-0.00368208 * cp)) - 1;
}

export function winPercentOfCp(cp: number): number {
  return 50 + 50 * winningChances(cp);
}

/** From White's point of view. A checkmate is mate 0 with 100 % wins for the winner, and a draw is 0 centipawns. */
export function scoreOfTerminal(terminal: Terminal): Score & { readonly bound: "exact"; readonly wdl: Wdl } {
  if (terminal.winner === undefined) {
    return { value: { kind: "cp", cp: 0 }, bound: "exact", wdl: { win: 0, draw: 1000, loss: 0 } };
  }
  const won = terminal.winner === "white";
  return {
    value: { kind: "mate", mate: 0 },
    bound: "exact",
    wdl: { win: won ? 1000 : 0, draw: 0, loss: won ? 0 : 1000 },
  };
}

/** Does not return -0, unlike a unary minus. */
function opposite(number: number): number {
  return 0 - number;
}

/** `category` is the word of the API, such as `cursed_win`. */
interface TablebaseResult extends KnownResult {
  readonly category: string;
}

interface SummaryInput {
  /** From White's point of view. */
  readonly score: Score;
  readonly bestMoveSan: string | undefined;
  readonly terminal: Terminal | undefined;
  /** The result in the endgame tables. The category `draw` is a draw without the fifty-move rule. */
  readonly tablebase: TablebaseResult | undefined;
  readonly turn: Color;
}

/** These limits are in centipawns. With an advantage of 100 centipawns, Stockfish wins half of its games. */
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

export function summarize(input: SummaryInput): string {
  const { score, bestMoveSan, terminal, tablebase, turn } = input;
  if (terminal) {
    return sentenceOfTerminal(terminal);
  }
  const { sentence, ahead } = tablebase
    ? { sentence: `${tablebaseText(tablebase)}.`, ahead: tablebase.winner }
    : sentenceOfScore(score);
  if (bestMoveSan === undefined) {
    return sentence;
  }
  // If the next words were Black's best move, a reader of "White mates in 3" would expect a move of White.
  const whose = ahead !== undefined && ahead !== turn ? ` for ${names[turn]}` : "";
  return `${sentence} Best move${whose}: ${bestMoveSan}.`;
}

function sentenceOfTerminal(terminal: Terminal): string {
  if (terminal.reason !== "checkmate") {
    return `Draw by ${draws[terminal.reason]}.`;
  }
  return `Checkmate: ${terminal.winner === "black" ? "Black" : "White"} has won.`;
}

interface Sentence {
  readonly sentence: string;
  readonly ahead: Color | undefined;
}

/** Examples: `White wins (tablebase)`, `Draw by the fifty-move rule (tablebase)`. */
export function tablebaseText({ winner, category }: TablebaseResult): string {
  const draw = category === "draw" ? "Draw" : "Draw by the fifty-move rule";
  return `${winner === undefined ? draw : `${names[winner]} wins`} (tablebase)`;
}

function sentenceOfScore({ value, bound }: Score): Sentence {
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

export function signedPawns(cp: number): string {
  const sign = cp > 0 ? "+" : cp < 0 ? "-" : "";
  return `${sign}${(Math.abs(cp) / 100).toFixed(2)}`;
}
