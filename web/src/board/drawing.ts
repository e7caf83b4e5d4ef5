import type { DrawShape } from "@lichess-org/chessground/draw";
import type { SquareName } from "chessops/types";

/** An arrow, or a circle without `to`. The colour is its letter in `[%cal]`, for example `G`. */
export interface Drawing {
  readonly colour: string;
  readonly from: SquareName;
  readonly to: SquareName | undefined;
}

const brushes: Readonly<Record<string, string>> = { G: "green", R: "red", B: "blue", Y: "yellow" };

export function shapeOfDrawing({ colour, from, to }: Drawing): DrawShape {
  return { orig: from, brush: brushes[colour] ?? "green", ...(to && { dest: to }) };
}

export function drawingOfShape({ orig, dest, brush = "green" }: DrawShape): Drawing {
  return {
    colour: brush.charAt(0).toUpperCase(),
    from: orig as SquareName,
    to: dest as SquareName | undefined,
  };
}
