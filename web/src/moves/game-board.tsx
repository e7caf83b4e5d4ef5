import { chessgroundDests } from "chessops/compat";
import type { Role, SquareName } from "chessops/types";
import { makeUci, parseSquare } from "chessops/util";
import { useMemo } from "preact/hooks";
import type { MoveDescription } from "../../../src/chess/moves.ts";
import type { Position } from "../../../src/chess/position.ts";
import { type Arrow, Board, type Glyph } from "../board/board.tsx";
import { focusBoard } from "../board/focus-board.ts";
import { usePage } from "../page.ts";
import { drawingsOf, withDrawings } from "./remarks.ts";
import { stepByWheel } from "./step-by-wheel.ts";
import "./moves.css";

interface GameBoardProps {
  readonly label: string;
  readonly position: Position;
  readonly last: MoveDescription | undefined;
  readonly arrows: readonly Arrow[];
  readonly glyph?: Glyph | undefined;
  readonly isPreview?: boolean;
  /** Replaces the move in the game. */
  readonly onPlay?: ((uci: string) => void) | undefined;
}

/** The mouse wheel steps through the game. */
export function GameBoard({
  label,
  position,
  last,
  arrows,
  glyph,
  isPreview = false,
  onPlay,
}: GameBoardProps) {
  const { game, display } = usePage();
  const { comments } = game.at.value;
  const { board, chess960, fen, turn } = position;
  const targets = useMemo(() => chessgroundDests(board, { chess960 }), [fen]);
  const onWheel = useMemo(() => stepByWheel(game), [game]);
  const onMove = (from: SquareName, to: SquareName, promotion: Role | undefined) => {
    const move = { from: parseSquare(from), to: parseSquare(to) };
    const uci = makeUci(promotion ? { ...move, promotion } : move);
    if (onPlay) {
      onPlay(uci);
    } else {
      game.play([uci]);
    }
    focusBoard();
  };
  return (
    <div class={isPreview ? "shown-board-preview" : ""} onWheel={onWheel}>
      <Board
        label={label}
        fen={fen}
        orientation={game.orientation.value}
        lastMove={last && ([last.from, last.to] as SquareName[])}
        check={board.isCheck() ? turn : undefined}
        arrows={arrows}
        glyph={glyph}
        drawings={isPreview ? [] : drawingsOf(comments)}
        onDraw={
          isPreview ? undefined : (drawings) => game.annotate({ comments: withDrawings(comments, drawings) })
        }
        isDrawing={display.drawing.value}
        use={isPreview ? { kind: "look" } : { kind: "play", turn, targets, chess960, onMove }}
      />
    </div>
  );
}
