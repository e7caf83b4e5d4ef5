import type { SquareName } from "chessops/types";
import { middleOf, type Orientation } from "../board/squares.ts";
import type { Judged } from "./judged.ts";

interface GlyphOnBoardProps {
  readonly judged: Judged;
  readonly square: SquareName;
  readonly orientation: Orientation;
}

/** The sign of a judgement at the corner of the square that its move went to. Words for it stand beside the board. */
export function GlyphOnBoard({ judged, square, orientation }: GlyphOnBoardProps) {
  const [x, y] = middleOf(square, orientation);
  // Within the board, also on the squares of its edge.
  const [cx, cy] = [Math.min(7.72, x + 0.42), Math.max(0.28, y - 0.42)];
  return (
    <svg class="review-glyph" viewBox="0 0 8 8" aria-hidden="true">
      <circle class={`review-glyph-ground ${judged.name}`} cx={cx} cy={cy} r="0.26" />
      <text class="review-glyph-sign" x={cx} y={cy} font-size="0.32" dy="0.11" text-anchor="middle">
        {judged.sign}
      </text>
    </svg>
  );
}
