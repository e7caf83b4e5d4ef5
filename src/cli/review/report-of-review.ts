import type { PhaseReview, PlayerReview } from "../../../gen/chess/analysis/v1/game_pb.ts";
import { columns } from "../command.ts";
import { drawGraph } from "./draw-graph.ts";
import type { ShownMove, ShownReview } from "./shown-review.ts";
import type { Style } from "./style.ts";
import { reportOfTurningPoints, turningPointsOf } from "./turning-points.ts";

/**
 * A review for people: who played, how well by phase, the course of the game, and where it turned.
 *
 * @param place of the game: `Game 3`
 */
export function reportOfReview(place: string, review: ShownReview, style: Style): string {
  const { moves, percents } = review;
  const marked = turningPointsOf(moves).map((move) => moves.indexOf(move) + 1);
  const lines = [
    headerOf(place, review),
    "",
    ...playTable(review),
    "",
    ...drawGraph({ percents, marked, parts: partsOf(moves) }, style),
    "",
    ...reportOfTurningPoints(moves, style),
    "",
    review.how,
  ];
  return `${lines.map((line, index) => (index === 0 || line === "" ? line : `  ${line}`)).join("\n")}\n\n`;
}

function headerOf(place: string, { names, result, opening }: ShownReview): string {
  const parts = [
    `${names.white} – ${names.black}`,
    result,
    ...(opening ? [`${opening.eco} ${opening.name}`] : []),
  ];
  return `${place}: ${parts.join(", ")}`;
}

const phases = ["opening", "middlegame", "endgame"] as const;

/** Phases only where a player has moves in more than one: of one, they would say the same again. */
function playTable({ names, players }: ShownReview): readonly string[] {
  const titles = ["", "accuracy", "average loss", "inaccuracies", "mistakes", "blunders"];
  const rows = (["white", "black"] as const).flatMap((color) => {
    const player = players[color];
    const played = phases.flatMap((phase) => {
      const play = player?.phases?.[phase];
      return play ? [rowOf(`  ${phase}`, play)] : [];
    });
    return [...(player ? [rowOf(names[color], player)] : []), ...(played.length > 1 ? played : [])];
  });
  // Figures stand below the ends of their titles.
  return columns(
    [titles, ...rows].map((row) =>
      row.map((cell, column) => (column === 0 ? cell : cell.padStart(titles[column]?.length ?? 0))),
    ),
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
