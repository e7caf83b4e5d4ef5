import type { ComponentChildren } from "preact";
import "./board-view.css";

interface BoardViewProps {
  readonly bar?: ComponentChildren;
  readonly board: ComponentChildren;
  readonly tools: ComponentChildren;
  readonly children: ComponentChildren;
}

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
