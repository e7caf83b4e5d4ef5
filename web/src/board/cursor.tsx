import type { SquareName } from "chessops/types";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { announce } from "../parts/live-region.tsx";
import type { Drawing } from "./drawing.ts";
import { type Orientation, piecesOf, squareByKey, squaresSeen } from "./squares.ts";
import { squareInWords } from "./words.ts";

interface CursorProps {
  readonly label: string;
  readonly fen: string;
  readonly orientation: Orientation;
  /** The square of the selected piece. */
  readonly held: SquareName | undefined;
  readonly targets: readonly SquareName[];
  /** Called when the user presses Enter or Space. Undefined if the board cannot be changed. */
  readonly onChoose: ((square: SquareName) => void) | undefined;
  readonly onRelease: () => void;
  /** Called when the user has chosen two squares with Shift and Enter. The same square twice is a circle. */
  readonly onDraw: ((drawing: Drawing) => void) | undefined;
}

/** An invisible grid over the board, for keyboards and screen readers. */
export function Cursor({ label, fen, orientation, held, targets, onChoose, onRelease, onDraw }: CursorProps) {
  const place = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState<SquareName>("e2");
  const drawnFrom = useRef<SquareName>(undefined);
  const pieces = piecesOf(fen);

  useLayoutEffect(() => {
    if (place.current?.contains(document.activeElement) && document.activeElement !== place.current) {
      place.current.querySelector<HTMLElement>(`[data-square="${at}"]`)?.focus();
    }
  }, [orientation]);

  const draw = () => {
    const from = drawnFrom.current;
    drawnFrom.current = from ? undefined : at;
    if (from) {
      onDraw?.({ colour: "G", from, to: at === from ? undefined : at });
    }
    if (!from) {
      announce(`Drawing from ${at}. Choose the end with Shift and Enter.`);
    }
  };

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target === place.current) {
      return;
    }
    const next = squareByKey(event.key, at, orientation);
    if (next !== undefined) {
      setAt(next);
      place.current?.querySelector<HTMLElement>(`[data-square="${next}"]`)?.focus();
    } else if (event.key === "Escape" && held) {
      onRelease();
    } else if (event.key === "Enter" && event.shiftKey && onDraw) {
      draw();
    } else if ((event.key === "Enter" || event.key === " ") && onChoose) {
      onChoose(at);
    } else {
      return;
    }
    event.preventDefault();
    // Stop the arrow keys here, because elsewhere they step through the game.
    event.stopPropagation();
  };

  return (
    // biome-ignore-start lint/a11y/useSemanticElements: A table would need cells that no browser lays out as squares.
    <div ref={place} class="board-cursor" role="grid" tabIndex={-1} aria-label={label} onKeyDown={onKeyDown}>
      {squaresSeen(orientation).map((row, index) => (
        // Flipping the board must not move elements, because a moved element loses the focus.
        <div key={index} role="row" tabIndex={-1} class="board-cursor-row">
          {row.map((square, column) => {
            const words = squareInWords(square, pieces.get(square));
            return (
              <div
                key={column}
                role="gridcell"
                data-square={square}
                tabIndex={square === at ? 0 : -1}
                aria-label={targets.includes(square) ? `${words}, can go here` : words}
                aria-selected={square === held}
                onFocus={() => setAt(square)}
              />
            );
          })}
        </div>
      ))}
    </div>
    // biome-ignore-end lint/a11y/useSemanticElements: See above.
  );
}
