import type { Color, Role } from "chessops/types";
import { h } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { texts } from "../texts.ts";

const roles = ["queen", "knight", "rook", "bishop"] as const;

interface PromotionProps {
  readonly color: Color;
  readonly onChoose: (role: Role) => void;
  readonly onCancel: () => void;
}

/** Asks what a pawn becomes. Escape or a click beside it takes the move back. */
export function Promotion({ color, onChoose, onCancel }: PromotionProps) {
  const place = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    place.current?.showModal();
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a dialog by itself.
    <dialog
      ref={place}
      class="board-promotion cg-wrap"
      aria-label={texts.board.promotion}
      onClose={onCancel}
      onClick={({ target, currentTarget }) => target === currentTarget && onCancel()}
    >
      {roles.map((role) => (
        <button
          key={role}
          type="button"
          class="board-promotion-choice"
          aria-label={texts.board.roles[role]}
          onClick={() => onChoose(role)}
        >
          {h("piece", { class: `${role} ${color}` })}
        </button>
      ))}
    </dialog>
  );
}
