import { Path } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import {
  GamePhase,
  type GameReview,
  Judgement,
  type MoveReview,
  type PhaseReview,
  type PlayerReview,
} from "../../../gen/chess/analysis/v1/game_pb.ts";
import type { Color } from "../../chess/position.ts";
import { type ScoreValue, winPercentOfCp } from "../../chess/score.ts";
import { centipawnsOf, standardStartCp } from "../../game/accuracy.ts";
import type { Game } from "../../game/game.ts";
import { withoutControls } from "../../text/controls.ts";
import { echo } from "../../text/echo.ts";
import { numbered } from "../../text/numbered-moves.ts";
import { columns as aligned } from "../command.ts";
import { countOf, resultOf, textOfValue, wordOf } from "../report.ts";
import { scoreFromMessage } from "../score-from-message.ts";
import { wrapped } from "../style.ts";
import { drawBoard } from "./draw-board.ts";
import { drawGraph } from "./draw-graph.ts";

/** `heading` names the game, such as `Game 3`. */
export function reportOfReview(heading: string, game: Game, review: GameReview, columns: number): string {
  const { startEvaluation, moves, opening } = review;
  const start: ScoreValue = startEvaluation
    ? scoreFromMessage(startEvaluation).value
    : { kind: "cp", cp: standardStartCp };
  const judged = judgedMoves(game, moves, start);
  const worst = worstOf(judged);
  const title = [
    `${nameOf(game, "white")} – ${nameOf(game, "black")}`,
    game.result,
    ...(opening ? [`${opening.eco} ${opening.name}`] : []),
  ];
  const percents = [winPercentOfCp(centipawnsOf(start)), ...moves.map(({ winPercent }) => winPercent)];
  const body = [
    ...playTable(game, review, Math.max(nameMin, columns - figuresWidth)),
    "",
    ...drawGraph({ percents, marked: worst.map(({ ply }) => ply), parts: partsOf(moves) }, columns),
    "",
    ...reportOfMoves(judged, worst),
    "",
    howFound(review),
    // Use the warnings of `game` about the PGN, because they contain the line in the file.
    ...[...game.warnings, ...review.warnings.filter(({ field }) => field !== "pgn")].map(
      ({ message }) => `Note: ${message}`,
    ),
  ];
  const lines = [
    `${heading}: ${title.join(", ")}`,
    "",
    ...body.map((line) => (line === "" ? line : indented(line))),
  ];
  return `${lines.flatMap((line) => wrapped(withoutControls(line), columns)).join("\n")}\n\n`;
}

const indented = (line: string) => `  ${line}`;

/** Escapes the name, because a PGN tag may contain any characters. */
function nameOf({ tags }: Game, color: Color): string {
  const side = color === "white" ? "White" : "Black";
  const name = tags.get(side)?.trim() ?? "";
  return name === "" || name === "?" ? side : echo(name);
}

const phases = ["opening", "middlegame", "endgame"] as const;

/** The width of the longest phase name with its indentation, in characters. */
const nameMin = 12;
/** The total width of all number columns, in characters. */
const figuresWidth = 33;

/** If all moves of a player belong to one phase, omits the row of the phase, because the player's row has the same numbers. */
function playTable(game: Game, { players }: GameReview, nameMax: number): readonly string[] {
  const rows = (["white", "black"] as const).flatMap((color) => {
    const player = players?.[color];
    if (player === undefined) {
      return [];
    }
    const played = phases.flatMap((phase) => {
      const play = player.phases?.[phase];
      return play ? [rowOf(indented(phase), play)] : [];
    });
    const name = nameOf(game, color);
    const short = name.length > nameMax ? `${name.slice(0, nameMax - 1).toWellFormed()}…` : name;
    return [rowOf(short, player), ...(played.length > 1 ? played : [])];
  });
  return aligned([figuresOf("", "accuracy", "loss", "?!", "?", "??"), ...rows]);
}

function rowOf(name: string, play: PlayerReview | PhaseReview): readonly string[] {
  const { accuracy, averageCentipawnLoss: loss, inaccuracies, mistakes, blunders } = play;
  const percent = accuracy === undefined ? "–" : `${accuracy.toFixed(1)} %`;
  return figuresOf(name, percent, loss === undefined ? "–" : `${loss} cp`, inaccuracies, mistakes, blunders);
}

function figuresOf(name: string, accuracy: string, loss: string, ...counts: readonly (string | number)[]) {
  return [name, accuracy.padStart(8), loss.padStart(7), ...counts.map((count) => String(count).padStart(2))];
}

/** `at` is the index of the position before the first move of a phase. */
function partsOf(moves: readonly MoveReview[]): readonly { readonly name: string; readonly at: number }[] {
  return phases.flatMap((name) => {
    const at = moves.findIndex(({ phase }) => wordOf(GamePhase, phase) === name);
    return at === -1 ? [] : [{ name, at }];
  });
}

interface JudgedMove {
  readonly ply: number;
  readonly review: MoveReview;
  readonly fenBefore: string;
  /** The move with its number and glyph, such as `24... Qxf7+??`. */
  readonly text: string;
  /** Scores from White's point of view or certain results, the judgement and the best move: `(+0.36 → -0.36) Inaccuracy. 12... Ngf3 was best.` */
  readonly comment: string;
}

const signs: Readonly<Record<string, string>> = { inaccuracy: "?!", mistake: "?", blunder: "??" };

function judgedMoves(game: Game, moves: readonly MoveReview[], start: ScoreValue): readonly JudgedMove[] {
  return moves.flatMap((review, index) => {
    if (review.judgement === undefined) {
      return [];
    }
    const { move, best } = review;
    const judgement = wordOf(Judgement, review.judgement);
    const fenBefore = game.positions[index]?.fen ?? "";
    const previous = moves[index - 1];
    const before = previous ? verdictOf(previous) : textOfValue(start);
    const [first] = best?.san ?? [];
    const better = first === undefined ? "" : ` ${numbered(fenBefore, [first])} was best.`;
    const word = `${judgement.charAt(0).toUpperCase()}${judgement.slice(1)}.`;
    return {
      ply: index + 1,
      review,
      fenBefore,
      text: numbered(fenBefore, [`${move?.san}${signs[judgement] ?? ""}`]),
      comment: `(${before} → ${verdictOf(review)}) ${word}${better}`,
    };
  });
}

/** Returns the score after a move, or the result by which endgame tables judge the move. */
function verdictOf({ evaluation, tablebase }: MoveReview): string {
  return tablebase ? resultOf(tablebase) : textOfValue(scoreFromMessage(evaluation).value);
}

const boardsMax = 5;

/** Returns the mistakes and blunders with the largest losses of winning chance, in the order of the game. */
function worstOf(judged: readonly JudgedMove[]): readonly JudgedMove[] {
  return judged
    .filter(({ review }) => review.judgement !== Judgement.INACCURACY)
    .toSorted((one, other) => other.review.winPercentLoss - one.review.winPercentLoss)
    .slice(0, boardsMax)
    .toSorted((one, other) => one.ply - other.ply);
}

/** Draws the position before each of the worst moves, with the side to move at the bottom. */
function reportOfMoves(judged: readonly JudgedMove[], worst: readonly JudgedMove[]): readonly string[] {
  if (judged.length === 0) {
    return ["No inaccuracies, no mistakes, no blunders."];
  }
  return [
    "Inaccuracies, mistakes and blunders:",
    "",
    ...aligned(judged.map(({ text, comment }) => [text, comment])).map(indented),
    ...(worst.length > 0 ? ["", "Turning points, from the side to move; (played), [best]:"] : []),
    ...worst.flatMap(reportOfTurningPoint),
  ];
}

function reportOfTurningPoint({ review, fenBefore, text, comment }: JudgedMove): readonly string[] {
  const { move: played, best } = review;
  const side = fenBefore.split(" ")[1] === "b" ? "black" : "white";
  const line = best && best.san.length > 1 ? [`Better: ${numbered(fenBefore, best.san)}`] : [];
  const board = drawBoard({ fen: fenBefore, side, played, best: best?.move });
  return ["", `${text}  ${comment}`, ...line, "", ...board.map(indented)];
}

function howFound({ engine, search }: GameReview): string {
  if (engine === undefined || search === undefined) {
    return "All positions are of finished games.";
  }
  const { limits, positions, searched, nodes, timeMs } = search;
  return [
    `${engine.name} (${wordOf(Path, engine.path)})`,
    ...(limits?.depth === undefined ? [] : [`depth ${limits.depth}`]),
    ...(limits?.nodes === undefined ? [] : [`at most ${countOf(Number(limits.nodes))} nodes a position`]),
    `${positions} positions, ${searched} searched`,
    `${countOf(Number(nodes))} nodes in ${timeMs} ms of engine time`,
  ].join(", ");
}
