import type { ComponentChildren } from "preact";
import "./board-view.css";

interface BoardViewProps {
  /** The evaluation beside the board. */
  readonly bar?: ComponentChildren;
  readonly board: ComponentChildren;
  /** Buttons for the board: under it in a narrow window, else at its side. */
  readonly tools: ComponentChildren;
  /** Panels, in the order of a narrow window. */
  readonly children: ComponentChildren;
}

/** A board that is as large as the window allows, its tools, and panels beside or below it. */
export function BoardView({ bar, board, tools, children }: BoardViewProps) {
  return (
    <div class="board-view">
      <div class="board-and-bar">
        {bar}
        <div class="board-place">{board}</div>
      </div>
      <div class="board-tools">{tools}</div>
      <div class="board-side stack">{children}</div>
    </div>
  );
}
