import { useState } from "preact/hooks";
import type { Line } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import type { Position } from "../../../src/chess/position.ts";
import { scoreText } from "../parts/score-text.ts";
import { texts } from "../texts.ts";
import { pointedAt } from "./preview.ts";
import { playMoves } from "./state.ts";

const words = texts.analysis;

interface LinesProps {
  readonly lines: readonly Line[];
  /** How many are to come, so that nothing moves when they do. */
  readonly wanted: number;
  /** The position that the lines begin from. */
  readonly position: Position;
}

/** The best lines, each of its moves to be looked at and played. */
export function Lines({ lines, wanted, position }: LinesProps) {
  return (
    <ol class="lines" aria-label={words.lines} onPointerLeave={clearPreview}>
      {lines.map((line) => (
        <LineRow key={line.rank} line={line} position={position} />
      ))}
      {Array.from({ length: Math.max(wanted - lines.length, 0) }, (_, index) => (
        <li key={`empty ${index}`} class="line line-empty" aria-hidden="true" />
      ))}
    </ol>
  );
}

function clearPreview() {
  pointedAt.value = [];
}

function LineRow({ line, position }: { readonly line: Line; readonly position: Position }) {
  const [at, setAt] = useState(0);
  const [isWhole, setIsWhole] = useState(false);
  const score = line.score ? scoreText(line.score) : "";
  const isBlack = line.score?.value.case !== undefined && line.score.value.value < 0;

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
      <div class="line-moves" role="toolbar" aria-label={words.line(line.rank, score)} onKeyDown={onKeyDown}>
        {line.san.map((san, index) => {
          const number = numberBefore(position, index);
          return (
            <button
              key={index}
              type="button"
              class="line-move"
              tabIndex={index === Math.min(at, line.san.length - 1) ? 0 : -1}
              onPointerEnter={() => {
                pointedAt.value = line.moves.slice(0, index + 1);
              }}
              onFocus={({ currentTarget }) => {
                setAt(index);
                if (currentTarget.matches(":focus-visible")) {
                  pointedAt.value = line.moves.slice(0, index + 1);
                }
              }}
              onBlur={clearPreview}
              onClick={() => {
                clearPreview();
                playMoves(line.moves.slice(0, index + 1));
              }}
            >
              {number && <span class="line-number">{number} </span>}
              {san}
            </button>
          );
        })}
      </div>
      <button
        type="button"
        class="quiet line-toggle"
        aria-expanded={isWhole}
        aria-label={words.wholeLine(line.rank)}
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

/** `12.` before White's moves, `12…` before Black's where it is the first. */
function numberBefore({ board, turn }: Position, index: number): string {
  const plies = index + (turn === "white" ? 0 : 1);
  const number = board.fullmoves + Math.floor(plies / 2);
  return plies % 2 === 0 ? `${number}.` : index === 0 ? `${number}…` : "";
}
