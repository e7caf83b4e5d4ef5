import type { Analysis } from "../analysis/analysis.ts";
import type { Color } from "../chess/position.ts";
import type { Game } from "../game/game.ts";
import type { GameReview, MoveReview } from "../game/review.ts";
import { echo } from "../text/plain-text.ts";
import { columns } from "./command.ts";
import { countOf } from "./report.ts";
import type { ReviewedGame } from "./review-game.ts";

const signs = { inaccuracy: "?!", mistake: "?", blunder: "??" } as const;

/**
 * A review for people: who played, how well, and where the game turned.
 *
 * @param place of the game: `Game 3`
 */
export function reportOfReview(place: string, { game, review, analyses }: ReviewedGame): string {
  const turningPoints = turningPointsOf(game, review);
  const lines = [
    headerOf(place, game, review),
    "",
    ...playTable(game, review).map((line) => `  ${line}`),
    "",
    ...(turningPoints.length > 0 ? turningPoints : ["No mistakes, no blunders."]).map((line) => `  ${line}`),
    "",
    `  ${howFound(analyses)}`,
  ];
  return `${lines.join("\n")}\n\n`;
}

function headerOf(place: string, game: Game, { opening }: GameReview): string {
  const parts = [
    `${nameOf(game, "white")} – ${nameOf(game, "black")}`,
    game.result,
    ...(opening ? [`${opening.eco} ${opening.name}`] : []),
  ];
  return `${place}: ${parts.join(", ")}`;
}

/** By the tags, which anybody may have written. */
function nameOf({ tags }: Game, color: Color): string {
  const name = tags.get(color === "white" ? "White" : "Black")?.trim() ?? "";
  return name === "" || name === "?" ? colorName(color) : echo(name);
}

function colorName(color: Color): string {
  return color === "white" ? "White" : "Black";
}

function playTable(game: Game, { players }: GameReview): readonly string[] {
  const titles = ["", "accuracy", "average loss", "inaccuracies", "mistakes", "blunders"];
  const rows = (["white", "black"] as const).map((color) => {
    const { accuracy, averageCentipawnLoss, inaccuracies, mistakes, blunders } = players[color];
    return [
      nameOf(game, color),
      accuracy === undefined ? "–" : `${accuracy.toFixed(1)} %`,
      averageCentipawnLoss === undefined ? "–" : `${averageCentipawnLoss} cp`,
      ...[inaccuracies, mistakes, blunders].map(String),
    ];
  });
  // Figures stand below the ends of their titles.
  return columns(
    [titles, ...rows].map((row) =>
      row.map((cell, column) => (column === 0 ? cell : cell.padStart(titles[column]?.length ?? 0))),
    ),
  );
}

/** The moves that were mistakes or blunders, each with the evaluation before and after it. */
function turningPointsOf(game: Game, { moves }: GameReview): readonly string[] {
  return columns(
    moves
      .filter(({ judgement }) => judgement === "mistake" || judgement === "blunder")
      .map((move) => [numberOf(game, move), `${move.move.san}${signOf(move)}`, move.comment ?? ""]),
  );
}

function signOf({ judgement }: MoveReview): string {
  return judgement === undefined ? "" : signs[judgement];
}

/** `12.` and `12...`, by the position. */
function numberOf({ positions }: Game, { ply }: MoveReview): string {
  const before = positions[ply - 1];
  return `${before?.fen.split(" ").at(-1)}.${before?.turn === "black" ? ".." : ""}`;
}

/** With which engine, and at what cost: what came from memory costs nothing. */
function howFound(analyses: readonly Analysis[]): string {
  const { positions, searched, nodes, timeMs } = searchTotals(analyses);
  const [asked] = analyses.flatMap(({ request }) => (request.position.terminal ? [] : [request]));
  if (asked === undefined) {
    return "All positions are of finished games.";
  }
  const limits = [
    ...(asked.depth === undefined ? [] : [`depth ${asked.depth}`]),
    ...(asked.nodes === undefined ? [] : [`at most ${countOf(asked.nodes)} nodes a position`]),
  ];
  const { name, path } = asked.build;
  return [
    `${name} (${path})`,
    ...limits,
    `${positions} positions, ${searched} searched`,
    `${countOf(nodes)} nodes in ${timeMs} ms of engine time`,
  ].join(", ");
}

export interface SearchTotals {
  /** Those that were evaluated: without finished ones. */
  readonly positions: number;
  /** Those for which an engine was asked. */
  readonly searched: number;
  readonly cached: number;
  /** Of what was searched. */
  readonly nodes: number;
  /** Engine time of what was searched, in milliseconds. */
  readonly timeMs: number;
  readonly deterministic: boolean;
}

export function searchTotals(analyses: readonly Analysis[]): SearchTotals {
  const evaluated = analyses.filter(({ stopReason }) => stopReason !== "terminal");
  const searched = evaluated.filter(({ cached }) => !cached);
  const total = (count: (analysis: Analysis) => number) =>
    searched.reduce((sum, analysis) => sum + count(analysis), 0);
  return {
    positions: evaluated.length,
    searched: searched.length,
    cached: evaluated.length - searched.length,
    nodes: total(({ counters }) => counters.nodes),
    timeMs: total(({ counters }) => counters.timeMs),
    deterministic: evaluated.every(({ deterministic }) => deterministic),
  };
}
