import { columns } from "../command.ts";
import { drawBoard } from "./draw-board.ts";
import { commentOn, numberOf, type ShownMove, signedMove, turnOf } from "./shown-review.ts";
import type { Style } from "./style.ts";

/** More are listed only. */
const pointsMax = 5;

/** The mistakes and blunders that cost most, in the order of the game; of equal ones the first. */
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

/** Each with the board before it, seen by its mover; then the other mistakes and blunders, a line each. */
export function reportOfTurningPoints(moves: readonly ShownMove[], style: Style): readonly string[] {
  const points = turningPointsOf(moves);
  if (points.length === 0) {
    return ["No mistakes, no blunders."];
  }
  const others = gravesOf(moves).filter((move) => !points.includes(move));
  const rows = others.map((move) => [numberOf(move), signedMove(move), commentOn(move)]);
  return [
    legend(style),
    "",
    ...points.flatMap((move) => [...reportOfPoint(move, style), ""]),
    ...(rows.length > 0 ? ["More mistakes and blunders:", "", ...columns(rows).map(indented), ""] : []),
  ].slice(0, -1);
}

function legend({ hasColors, paint }: Style): string {
  const [played, best] = hasColors
    ? [paint(["bgRed", "whiteBright"], " played "), paint(["bgGreen", "whiteBright"], " best ")]
    : ["(played)", "[best]"];
  return `Turning points, seen by the mover; ${played} and ${best}:`;
}

function reportOfPoint(move: ShownMove, style: Style): readonly string[] {
  const { fenBefore, best } = move;
  const better =
    best && best.san.length > 1 ? [cutTo(`Better: ${best.san.join(" ")}`, style.columns - 4)] : [];
  return [
    `${numberOf(move)} ${style.paint("bold", signedMove(move))}  ${commentOn(move)}`,
    ...better,
    "",
    ...drawBoard({ fen: fenBefore, side: turnOf(fenBefore), played: move, best }, style).map(indented),
  ];
}

/** Between words: a move that has lost its end is another move. */
function cutTo(text: string, chars: number): string {
  if (text.length <= chars) {
    return text;
  }
  const cut = text.slice(0, Math.max(0, chars - 1));
  return `${cut.slice(0, cut.lastIndexOf(" ") + 1)}…`;
}

function indented(line: string): string {
  return `  ${line}`;
}
