import { useEffect, useRef, useState } from "preact/hooks";
import type { Line } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import { moveNumber } from "../moves/move-number.ts";
import { usePage } from "../page.ts";
import { scoreText } from "../parts/score-text.ts";

interface LinesProps {
  readonly lines: readonly Line[];
  /** The number of requested lines. Missing lines appear as empty rows, so that the layout does not move. */
  readonly wanted: number;
}

export function Lines({ lines, wanted }: LinesProps) {
  const hasMoved = usePointerMoves();
  return (
    <ol class="lines" aria-label="Lines">
      {lines.map((line) => (
        <LineRow key={line.rank} line={line} hasMoved={hasMoved} />
      ))}
      {Array.from({ length: Math.max(wanted - lines.length, 0) }, (_, index) => (
        <li key={`empty ${index}`} class="line" aria-hidden="true" />
      ))}
    </ol>
  );
}

/** True if the pointer has moved. Browsers also send an event when a line appears under a pointer that does not move. */
function usePointerMoves(): () => boolean {
  const moved = useRef(false);
  useEffect(() => {
    let [x, y] = [Number.NaN, Number.NaN];
    const onMove = ({ clientX, clientY }: PointerEvent) => {
      moved.current = clientX !== x || clientY !== y;
      [x, y] = [clientX, clientY];
    };
    document.addEventListener("pointermove", onMove, { capture: true });
    return () => document.removeEventListener("pointermove", onMove, { capture: true });
  }, []);
  return () => moved.current;
}

interface LineRowProps {
  readonly line: Line;
  hasMoved(): boolean;
}

function LineRow({ line, hasMoved }: LineRowProps) {
  const { game, analysis } = usePage();
  const { pointedAt } = analysis;
  const [at, setAt] = useState(0);
  const [isWhole, setIsWhole] = useState(false);
  const score = line.score ? scoreText(line.score) : "";
  const { position } = game.at.value;
  const isBlack = line.score?.value.case !== undefined && line.score.value.value < 0;

  const pointAt = (index: number) => {
    pointedAt.value = { rank: line.rank, index };
  };
  const pointAway = () => {
    pointedAt.value = undefined;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined || event.ctrlKey || event.altKey || event.metaKey) {
      return;
    }
    const buttons = (event.currentTarget as HTMLElement).querySelectorAll("button");
    buttons[Math.min(Math.max(at + step, 0), line.san.length - 1)]?.focus();
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <li class={isWhole ? "line line-whole" : "line"}>
      <span class={isBlack ? "line-score line-score-black" : "line-score"}>{score}</span>
      <div class="line-moves" role="toolbar" aria-label={`Line ${line.rank}, ${score}`} onKeyDown={onKeyDown}>
        {line.san.map((san, index) => {
          const number = moveNumber(position, index);
          return (
            <button
              key={index}
              type="button"
              class="line-move"
              tabIndex={index === Math.min(at, line.san.length - 1) ? 0 : -1}
              onPointerMove={() => hasMoved() && pointAt(index)}
              onPointerLeave={pointAway}
              onFocus={({ currentTarget }) => {
                setAt(index);
                if (currentTarget.matches(":focus-visible")) {
                  pointAt(index);
                }
              }}
              onBlur={pointAway}
              onClick={() => {
                pointAway();
                game.play(line.moves.slice(0, index + 1));
              }}
            >
              {(index === 0 || number.endsWith(".")) && <span class="quiet-text">{number} </span>}
              {san}
            </button>
          );
        })}
      </div>
      <button
        type="button"
        class="quiet line-toggle"
        aria-expanded={isWhole}
        aria-label={`Whole line ${line.rank}`}
        onClick={() => setIsWhole(!isWhole)}
      >
        <svg viewBox="0 0 10 6" width="10" height="6" aria-hidden="true">
          <path
            d={isWhole ? "M1 5l4-4 4 4" : "M1 1l4 4 4-4"}
            fill="none"
            stroke="currentColor"
            stroke-width="1.5"
          />
        </svg>
      </button>
    </li>
  );
}
