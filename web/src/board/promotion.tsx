import type { Color, Role, SquareName } from "chessops/types";
import { h } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { middleOf, type Orientation } from "./squares.ts";

const roles = ["queen", "knight", "rook", "bishop"] as const;

interface PromotionProps {
  readonly color: Color;
  readonly square: SquareName;
  readonly orientation: Orientation;
  readonly onChoose: (role: Role) => void;
  readonly onCancel: () => void;
}

/** Opens a dialog over the target square. Escape or a click outside the dialog cancels the move. */
export function Promotion({ color, square, orientation, onChoose, onCancel }: PromotionProps) {
  const place = useRef<HTMLDialogElement>(null);
  const [x, y] = middleOf(square, orientation);
  useLayoutEffect(() => {
    const dialog = place.current;
    const put = () => dialog && putOn(dialog, x, y);
    dialog?.showModal();
    put();
    addEventListener("resize", put);
    return () => removeEventListener("resize", put);
  }, [x, y]);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: The browser closes a dialog at Escape.
    <dialog
      ref={place}
      class={`board-promotion cg-wrap${y > 4 ? " board-promotion-below" : ""}`}
      aria-label="What does the pawn become?"
      onClose={onCancel}
      onClick={({ target, currentTarget }) => target === currentTarget && onCancel()}
    >
      {roles.map((role) => (
        <button
          key={role}
          type="button"
          class="board-promotion-choice"
          aria-label={role}
          onClick={() => onChoose(role)}
        >
          {h("piece", { class: `${role} ${color}` })}
        </button>
      ))}
    </dialog>
  );
}

/** Puts the dialog inside the window. `x` and `y` are measured in squares from the top left corner of the board. */
function putOn(dialog: HTMLDialogElement, x: number, y: number): void {
  const board = dialog.parentElement?.getBoundingClientRect();
  if (board === undefined) {
    return;
  }
  const side = board.width / 8;
  dialog.style.setProperty("--square", `${side}px`);
  const { width, height } = dialog.getBoundingClientRect();
  const left = Math.min(
    Math.max(board.left + x * side - width / 2, 0),
    document.documentElement.clientWidth - width,
  );
  const top = y > 4 ? board.bottom - height : board.top;
  dialog.style.left = `${left + scrollX}px`;
  dialog.style.top = `${top + scrollY}px`;
}
