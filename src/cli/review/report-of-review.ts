import type { PhaseReview, PlayerReview } from "../../../gen/chess/analysis/v1/game_pb.ts";
import { columns } from "../command.ts";
import { type Style, wrapped } from "../style.ts";
import { drawGraph } from "./draw-graph.ts";
import type { ShownMove, ShownReview } from "./shown-review.ts";
import { reportOfTurningPoints, turningPointsOf } from "./turning-points.ts";

/**
 * A review for people: players, accuracy by phase, a graph of the game, and its turning points.
 *
 * @param place of the game: `Game 3`
 */
export function reportOfReview(place: string, review: ShownReview, style: Style): string {
  const { moves, percents } = review;
  const marked = turningPointsOf(moves).map((move) => moves.indexOf(move) + 1);
  const lines = [
    headerOf(place, review),
    "",
    ...playTable(review, style.columns - indent.length),
    "",
    ...drawGraph({ percents, marked, parts: partsOf(moves) }, style),
    "",
    ...reportOfTurningPoints(moves, style),
    "",
    review.how,
  ];
  const shown = lines.map((line, index) => (index === 0 || line === "" ? line : indent + line));
  return `${shown.flatMap((line) => wrapped(line, style.columns)).join("\n")}\n\n`;
}

const indent = "  ";

function headerOf(place: string, { names, result, opening }: ShownReview): string {
  const parts = [
    `${names.white} – ${names.black}`,
    result,
    ...(opening ? [`${opening.eco} ${opening.name}`] : []),
  ];
  return `${place}: ${parts.join(", ")}`;
}

const phases = ["opening", "middlegame", "endgame"] as const;

const longTitles = ["", "accuracy", "average loss", "inaccuracies", "mistakes", "blunders"];
const shortTitles = ["", "accuracy", "loss", "?!", "?", "??"];

/** A player with moves in one phase only has no row for it: it would repeat the row of the game. */
function playTable({ names, players }: ShownReview, width: number): readonly string[] {
  const rows = (["white", "black"] as const).flatMap((color) => {
    const player = players[color];
    const played = phases.flatMap((phase) => {
      const play = player?.phases?.[phase];
      return play ? [rowOf(`  ${phase}`, play)] : [];
    });
    return [...(player ? [rowOf(names[color], player)] : []), ...(played.length > 1 ? played : [])];
  });
  const long = tableOf(longTitles, rows);
  const table = (long[0]?.length ?? 0) <= width ? long : tableOf(shortTitles, rows, width);
  const hasPhases = rows.length > 2;
  return hasPhases ? [...table, "", aboutPhases] : table;
}

/** Explains why the accuracy of a game can be lower than that of each of its phases. */
const aboutPhases =
  "The accuracy of a phase is the mean of its moves; in that of the game, bad moves weigh more (Lichess).";

/** Aligns figures right, below their titles, and cuts names to the width that is left. */
function tableOf(
  titles: readonly string[],
  rows: readonly (readonly string[])[],
  width = Number.POSITIVE_INFINITY,
): readonly string[] {
  const widths = titles.map((_, column) =>
    [titles, ...rows].reduce((widest, row) => Math.max(widest, row[column]?.length ?? 0), 0),
  );
  const figures = widths.slice(1).reduce((sum, one) => sum + 2 + one, 0);
  const cut = (name: string) =>
    name.length + figures <= width ? name : `${name.slice(0, width - figures - 1)}…`;
  return columns(
    [titles, ...rows].map(([name = "", ...cells]) => [
      cut(name),
      ...cells.map((cell, at) => cell.padStart(widths[at + 1] ?? 0)),
    ]),
  );
}

function rowOf(name: string, play: PlayerReview | PhaseReview): readonly string[] {
  const { accuracy, averageCentipawnLoss, inaccuracies, mistakes, blunders } = play;
  return [
    name,
    accuracy === undefined ? "–" : `${accuracy.toFixed(1)} %`,
    averageCentipawnLoss === undefined ? "–" : `${averageCentipawnLoss} cp`,
    ...[inaccuracies, mistakes, blunders].map(String),
  ];
}

/** The phases, each from the position in which its first move was played. */
function partsOf(moves: readonly ShownMove[]): readonly { readonly name: string; readonly at: number }[] {
  return phases.flatMap((name) => {
    const at = moves.findIndex(({ phase }) => phase === name);
    return at === -1 ? [] : [{ name, at }];
  });
}
