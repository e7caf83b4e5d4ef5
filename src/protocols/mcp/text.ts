import { tablebaseText } from "../../chess/score.ts";

/** The maximum length of an answer in characters. It is short, because users pay for the text that their models read. */
const textMaxCharacters = 4000;

const shortened = "\n(shortened)";

/** Joins parts to a text. If the text is too long, its last lines are removed, so the most important part must be the first. */
export function textOf(parts: readonly (string | undefined)[], maxCharacters = textMaxCharacters): string {
  const text = parts.filter(Boolean).join("\n\n");
  if (text.length <= maxCharacters) {
    return text;
  }
  const lines = text.slice(0, maxCharacters - shortened.length).replace(/\n[^\n]*$/, "");
  // The text can be cut between the halves of a surrogate pair.
  return lines.trimEnd().toWellFormed() + shortened;
}

export function turnOf(fen: string): "white" | "black" {
  return fen.split(" ")[1] === "b" ? "black" : "white";
}

export function nameOfSide(side: "white" | "black"): string {
  return side === "white" ? "White" : "Black";
}

/** Shows a position as nine lines of text, with White at the bottom. A dot is an empty square. */
export function boardOf(fen: string): string {
  const [placement = ""] = fen.split(" ");
  const rows = placement.split("/").map((rank, index) => {
    const squares = rank.replace(/\d/g, (count) => ".".repeat(Number(count)));
    return `${8 - index} ${[...squares].join(" ")}`;
  });
  return [...rows, "  a b c d e f g h"].join("\n");
}

export function describePosition(fen: string): string {
  return `${nameOfSide(turnOf(fen))} to move. FEN: ${fen}\n\n${boardOf(fen)}`;
}

/** A move in plain JSON. */
export interface NamedMove {
  readonly san: string;
  readonly uci: string;
}

/** A score in plain JSON, from White's point of view. */
export interface PlainScore {
  readonly cp: number | null;
  readonly mate: number | null;
  readonly bound: string;
  readonly win_percent: number;
}

/** Returns a score as text that names a side, such as "White +1.35", "Black mates in 3" or "equal 0.00". */
export function scoreText({ cp, mate, bound, win_percent: winPercent }: PlainScore): string {
  if (mate === 0) {
    return winPercent > 50 ? "White has mated" : "Black has mated";
  }
  if (mate !== null) {
    return `${mate > 0 ? "White" : "Black"} mates in ${Math.abs(mate)}`;
  }
  const pawns = ((cp ?? 0) / 100).toFixed(2);
  if (Number(pawns) === 0) {
    return "equal 0.00";
  }
  const isWhite = Number(pawns) > 0;
  // `bound` is from White's point of view. A lower bound for White is an upper bound for Black.
  const limit = bound === "exact" ? "" : (bound === "lower") === isWhite ? "at least " : "at most ";
  return `${isWhite ? "White" : "Black"} ${limit}+${pawns.replace("-", "")}`;
}

/** The result of a position in the endgame tables, in plain JSON. */
export interface PlainTablebase {
  readonly category: string;
  readonly winner: "white" | "black" | null;
  readonly dtz_plies: number | null;
}

/** Returns the result that endgame tables know, or the score. */
export function verdictText(score: PlainScore, tablebase: PlainTablebase | null | undefined): string {
  return tablebase
    ? tablebaseText({ category: tablebase.category, winner: tablebase.winner ?? undefined })
    : scoreText(score);
}

export function moveText({ san, uci }: NamedMove): string {
  return `${san} (${uci})`;
}

export function halfMovesText(count: number): string {
  return count === 1 ? "1 half-move" : `${count} half-moves`;
}

export function notesText(warnings: readonly string[], drawClaim: string | null | undefined): string {
  const claim = drawClaim ? [`A draw can be claimed: ${drawClaim.replaceAll("_", " ")}.`] : [];
  return [...claim, ...warnings].map((note) => `Note: ${note}`).join("\n");
}

const nearestMax = 20;

/** Returns the legal moves with the most similar squares and piece. Equally similar moves stay in the same order. */
export function nearestMoves(
  written: string,
  legal: readonly NamedMove[],
  count = nearestMax,
): readonly NamedMove[] {
  const squares = written.toLowerCase().match(/[a-h][1-8]/g) ?? [];
  const to = squares.at(-1);
  const from = squares.length > 1 ? squares[0] : undefined;
  const piece = /^[KQRBNO0]/.exec(written)?.[0].replace("0", "O") ?? written[0];
  const likeness = ({ san, uci }: NamedMove) =>
    (uci.slice(2, 4) === to ? 4 : 0) +
    (from !== undefined && uci.startsWith(from) ? 4 : 0) +
    (san[0] === piece ? 3 : 0);
  return legal.toSorted((one, other) => likeness(other) - likeness(one)).slice(0, count);
}
