import { useEffect, useRef } from "preact/hooks";
import { texts } from "../texts.ts";
import { goToPly, play, ply } from "./state.ts";

const words = texts.analysis;

/** The moves that were played. Where there are many, the one on the board is kept in sight. */
export function MoveList() {
  const place = useRef<HTMLOListElement>(null);
  const at = ply.value;
  useEffect(() => {
    const list = place.current;
    const current = list?.querySelector<HTMLElement>("[aria-current]");
    if (list && current) {
      list.scrollTop = current.offsetTop - list.clientHeight / 2;
    }
  }, [at]);
  const { moves, positions } = play.value;
  if (moves.length === 0) {
    return <p class="quiet-text move-list-empty">{words.noMoves}</p>;
  }
  return (
    <ol ref={place} class="move-list figures" aria-label={words.moves}>
      {[{ san: words.startOfGame }, ...moves].map(({ san }, index) => {
        const before = positions[index - 1];
        const isFirst = index === 1 && before?.turn === "black";
        const number = before && (before.turn === "white" || isFirst) ? before.board.fullmoves : undefined;
        return (
          <li key={index}>
            {number !== undefined && (
              <span class="move-number">
                {number}
                {isFirst ? "…" : "."}
              </span>
            )}
            <button
              type="button"
              class="move"
              tabIndex={index === at ? 0 : -1}
              {...(index === at && { "aria-current": "step" as const })}
              onClick={() => goToPly(index)}
            >
              {san}
            </button>
          </li>
        );
      })}
    </ol>
  );
}

const icons = {
  first: "M4 3v10M13 3L6 8l7 5z",
  back: "M11 3L4 8l7 5z",
  forward: "M5 3l7 5-7 5z",
  last: "M12 3v10M3 3l7 5-7 5z",
} as const;

/** Back and forward, for pointers and fingers; the arrow keys do the same anywhere on the page. */
export function MoveSteps() {
  const end = play.value.moves.length;
  const steps = [
    ["first", 0],
    ["back", ply.value - 1],
    ["forward", ply.value + 1],
    ["last", end],
  ] as const;
  return (
    <fieldset class="move-steps">
      <legend class="heard-only">{words.moves}</legend>
      {steps.map(([name, to]) => (
        <button
          key={name}
          type="button"
          class="quiet"
          aria-label={words[name]}
          title={words[name]}
          // Not disabled: the focus would be lost at either end.
          aria-disabled={to < 0 || to > end || to === ply.value}
          onClick={() => goToPly(to)}
        >
          <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
            <path
              d={icons[name]}
              fill="currentColor"
              stroke="currentColor"
              stroke-width="1.5"
              stroke-linejoin="round"
            />
          </svg>
        </button>
      ))}
    </fieldset>
  );
}

const ofTheirOwn = "input, textarea, select, [role=grid], [role=toolbar], [role=slider], dialog, summary";

/** Arrow keys go through the game from anywhere on the page where they mean nothing else. */
export function stepByKeys(): () => void {
  const onKeyDown = (event: KeyboardEvent) => {
    const { key, target, defaultPrevented } = event;
    const isPlain = !(event.altKey || event.ctrlKey || event.metaKey || event.shiftKey);
    if (!isPlain || defaultPrevented || (target instanceof Element && target.closest(ofTheirOwn))) {
      return;
    }
    const end = play.peek().moves.length;
    const at = ply.peek();
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: end }[key];
    if (to !== undefined && end > 0) {
      event.preventDefault();
      goToPly(to);
    }
  };
  document.addEventListener("keydown", onKeyDown);
  return () => document.removeEventListener("keydown", onKeyDown);
}
