import { columns } from "../command.ts";
import { numbered } from "../report.ts";
import { type Style, wrapped } from "../style.ts";
import { drawBoard } from "./draw-board.ts";
import { commentOn, type ShownMove, signedMove, turnOf } from "./shown-review.ts";

/** Most moves that are shown with a board. */
const pointsMax = 5;

/** The mistakes and blunders that cost most, in the order of the game. Of equal ones, the first counts. */
export function turningPointsOf(moves: readonly ShownMove[]): readonly ShownMove[] {
  const worst = new Set(
    gravesOf(moves)
      .toSorted((one, other) => other.winPercentLoss - one.winPercentLoss)
      .slice(0, pointsMax),
  );
  return moves.filter((move) => worst.has(move));
}

function gravesOf(moves: readonly ShownMove[]): readonly ShownMove[] {
  return moves.filter(({ judgement }) => judgement === "mistake" || judgement === "blunder");
}

/** A line for each move with a judgement; then the worst moves with the board before them, from the side of the mover. */
export function reportOfTurningPoints(moves: readonly ShownMove[], style: Style): readonly string[] {
  const judged = moves.filter(({ judgement }) => judgement !== undefined);
  if (judged.length === 0) {
    return ["No inaccuracies, no mistakes, no blunders."];
  }
  const rows = judged.map((move) => [signedMove(move), commentOn(move)]);
  const points = turningPointsOf(moves);
  return [
    "Inaccuracies, mistakes and blunders:",
    "",
    ...columns(rows).map(indented),
    "",
    ...(points.length > 0 ? [legend(style), ""] : []),
    ...points.flatMap((move) => [...reportOfPoint(move, style), ""]),
  ].slice(0, -1);
}

function legend({ hasColors, paint }: Style): string {
  const [played, best] = hasColors
    ? [paint(["bgRed", "whiteBright"], " played "), paint(["bgGreen", "whiteBright"], " best ")]
    : ["(played)", "[best]"];
  return `Turning points, from the side to move; ${played}, ${best}:`;
}

function reportOfPoint(move: ShownMove, style: Style): readonly string[] {
  const { fenBefore, best } = move;
  const better =
    best && best.san.length > 1 ? [cutTo(`Better: ${numbered(fenBefore, best.san)}`, style.columns - 4)] : [];
  return [
    `${style.paint("bold", signedMove(move))}  ${commentOn(move)}`,
    ...better,
    "",
    ...drawBoard({ fen: fenBefore, side: turnOf(fenBefore), played: move, best }, style).map(indented),
  ];
}

/** Cuts between words: a move without its end is another move. */
function cutTo(text: string, chars: number): string {
  return text.length <= chars ? text : `${wrapped(text, chars - 2)[0]} …`;
}

function indented(line: string): string {
  return `  ${line}`;
}
