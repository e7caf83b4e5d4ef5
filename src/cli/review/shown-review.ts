import { Path } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import {
  GamePhase,
  type GameReview,
  Judgement,
  type MoveReview,
  type PlayerReview,
} from "../../../gen/chess/analysis/v1/game_pb.ts";
import type { Color } from "../../chess/position.ts";
import { type ScoreValue, winPercentOfCp } from "../../chess/score.ts";
import { centipawnsOf, standardStartCp } from "../../game/accuracy.ts";
import type { Game } from "../../game/game.ts";
import { echo, withoutControls } from "../../text/plain-text.ts";
import { countOf, numbered, textOfValue, wordOf } from "../report.ts";
import { scoreFromMessage } from "../score-from-message.ts";

/** The part of a game and its review that a report shows. Its texts have no control characters. */
export interface ShownReview {
  readonly names: Readonly<Record<Color, string>>;
  /** As PGN writes it: `1-0`, `*`. */
  readonly result: string;
  readonly opening: { readonly eco: string; readonly name: string } | undefined;
  readonly players: Readonly<Record<Color, PlayerReview | undefined>>;
  readonly moves: readonly ShownMove[];
  /** White's chances in each position, the start first, 0 to 100. */
  readonly percents: readonly number[];
  /** The engine, and the cost. */
  readonly how: string;
}

export interface ShownMove {
  readonly san: string;
  readonly from: string;
  readonly to: string;
  readonly fenBefore: string;
  /** White's view. */
  readonly before: ScoreValue;
  readonly after: ScoreValue;
  /** Percentage points of chances that the mover lost. */
  readonly winPercentLoss: number;
  /** `mistake` */
  readonly judgement: string | undefined;
  /** `opening` */
  readonly phase: string;
  readonly best: ShownBest | undefined;
}

interface ShownBest {
  readonly from: string;
  readonly to: string;
  /** The line that begins with it. */
  readonly san: readonly string[];
}

/** The score of the standard start position that the formulas assume. */
const assumedStart: ScoreValue = { kind: "cp", cp: standardStartCp };

export function shownReview(game: Game, review: GameReview): ShownReview {
  const { startEvaluation, moves, players, opening } = review;
  const start = startEvaluation ? scoreFromMessage(startEvaluation).value : assumedStart;
  return {
    names: { white: nameOf(game, "white"), black: nameOf(game, "black") },
    result: game.result,
    opening: opening && { eco: withoutControls(opening.eco), name: withoutControls(opening.name) },
    players: { white: players?.white, black: players?.black },
    percents: [winPercentOfCp(centipawnsOf(start)), ...moves.map(({ winPercent }) => winPercent)],
    moves: moves.map((move, index) =>
      shownMove(
        move,
        game.positions[index]?.fen ?? "",
        index === 0 ? start : scoreFromMessage(moves[index - 1]?.evaluation).value,
      ),
    ),
    how: howFound(review),
  };
}

function shownMove(
  { move, evaluation, winPercentLoss, judgement, phase, best }: MoveReview,
  fenBefore: string,
  before: ScoreValue,
): ShownMove {
  return {
    san: withoutControls(move?.san ?? ""),
    from: move?.from ?? "",
    to: move?.to ?? "",
    fenBefore,
    before,
    after: scoreFromMessage(evaluation).value,
    winPercentLoss,
    judgement: judgement === undefined ? undefined : wordOf(Judgement, judgement),
    phase: wordOf(GamePhase, phase),
    best: best?.move && { from: best.move.from, to: best.move.to, san: best.san.map(withoutControls) },
  };
}

/** The name in the tags, which are text of strangers. */
function nameOf({ tags }: Game, color: Color): string {
  const name = tags.get(color === "white" ? "White" : "Black")?.trim() ?? "";
  return name === "" || name === "?" ? (color === "white" ? "White" : "Black") : echo(name);
}

function howFound({ engine, search }: GameReview): string {
  if (engine === undefined || search === undefined) {
    return "All positions are of finished games.";
  }
  const { limits, positions, searched, nodes, timeMs } = search;
  return [
    `${withoutControls(engine.name)} (${wordOf(Path, engine.path)})`,
    ...(limits?.depth === undefined ? [] : [`depth ${limits.depth}`]),
    ...(limits?.nodes === undefined ? [] : [`at most ${countOf(Number(limits.nodes))} nodes a position`]),
    `${positions} positions, ${searched} searched`,
    `${countOf(Number(nodes))} nodes in ${timeMs} ms of engine time`,
  ].join(", ");
}

const signs: Readonly<Record<string, string>> = { inaccuracy: "?!", mistake: "?", blunder: "??" };

/** `24... Qxf7+??` */
export function signedMove({ fenBefore, san, judgement = "" }: ShownMove): string {
  return numbered(fenBefore, [`${san}${signs[judgement] ?? ""}`]);
}

export function turnOf(fen: string): Color {
  return fen.split(" ")[1] === "b" ? "black" : "white";
}

/** `(+0.36 → -0.36) Inaccuracy. 12... Ngf3 was best.`, White's view. */
export function commentOn({ fenBefore, before, after, judgement, best }: ShownMove): string {
  const judged = judgement ? ` ${judgement.charAt(0).toUpperCase()}${judgement.slice(1)}.` : "";
  const [first] = best?.san ?? [];
  const better = first === undefined ? "" : ` ${numbered(fenBefore, [first])} was best.`;
  return `(${textOfValue(before)} → ${textOfValue(after)})${judged}${better}`;
}
