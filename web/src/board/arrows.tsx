import type { SquareName } from "chessops/types";
import { middleOf, type Orientation } from "./squares.ts";

/** A move drawn on the board. */
export interface Arrow {
  readonly from: SquareName;
  readonly to: SquareName;
  /** 1 for the best, drawn broadest. */
  readonly rank: number;
}

interface ArrowsProps {
  readonly arrows: readonly Arrow[];
  readonly orientation: Orientation;
}

/**
 * Drawn here and not by chessground 10, whose drawing has a style attribute that a strict Content-Security-Policy
 * refuses.
 */
export function Arrows({ arrows, orientation }: ArrowsProps) {
  return (
    <svg class="board-arrows" viewBox="0 0 8 8" aria-hidden="true">
      {arrows.map(({ from, to, rank }) => (
        <path
          key={`${from}${to}`}
          class={rank === 1 ? "board-arrow board-arrow-best" : "board-arrow"}
          d={shapeOf(middleOf(from, orientation), middleOf(to, orientation), rank === 1 ? 0.11 : 0.06)}
        />
      ))}
    </svg>
  );
}

type Point = readonly [x: number, y: number];

/** An outline, from near the middle of one square to that of another. */
function shapeOf([x1, y1]: Point, [x2, y2]: Point, half: number): string {
  const length = Math.hypot(x2 - x1, y2 - y1) || 1;
  const [dx, dy] = [(x2 - x1) / length, (y2 - y1) / length];
  const head = 0.2 + half * 2;
  const neck = length - head;
  const outline: readonly Point[] = [
    [0.15, half],
    [neck, half],
    [neck, half * 2.6],
    [length - 0.02, 0],
    [neck, -half * 2.6],
    [neck, -half],
    [0.15, -half],
  ];
  const points = outline.map(([along, across]) => {
    const x = x1 + dx * along - dy * across;
    const y = y1 + dy * along + dx * across;
    return `${x.toFixed(3)} ${y.toFixed(3)}`;
  });
  return `M${points.join("L")}Z`;
}
