import type { SquareName } from "chessops/types";
import { GameBoard } from "../moves/game-board.tsx";
import { numberedMove } from "../moves/move-number.ts";
import { usePage } from "../page.ts";
import { judgedOf } from "./judged.ts";

export function ReviewBoard() {
  const { game, review, display } = usePage();
  const node = game.at.value;
  const { practice } = review;
  if (practice.isAsking.value) {
    const { position, last } = practice.position.value ?? { position: node.position, last: node.move };
    const isFree = practice.attempt.value.kind === "none";
    return (
      <GameBoard
        label="Position before the mistake"
        position={position}
        last={last}
        arrows={[]}
        isPreview={!isFree}
        onPlay={practice.judge}
      />
    );
  }
  const { position, move } = node;
  const reviewed = review.reviewOf(node);
  const judged = judgedOf(reviewed);
  const best = reviewed?.best?.move?.uci === move?.uci ? undefined : reviewed?.best?.move;
  return (
    <GameBoard
      label={move ? `Position after ${numberedMove(node)}` : "Start of the game"}
      position={position}
      last={move}
      arrows={
        best && display.arrows.isOn.value
          ? [{ from: best.from as SquareName, to: best.to as SquareName, rank: 1 }]
          : []
      }
      glyph={
        judged &&
        move && { square: move.to as SquareName, sign: judged.sign, colour: `var(--${judged.name})` }
      }
    />
  );
}
