import { focusBoard } from "../board/focus-board.ts";
import type { Step } from "../game/create-game.ts";
import type { Page } from "../page.ts";
import { showHelp } from "./help.tsx";

/** The page ignores keys that are pressed in these elements, because the elements need the keys. */
const typing = "input:not([type=checkbox], [type=range]), textarea, select, [contenteditable], dialog[open]";

const pressable = "button, a, summary, input";

const steps: Readonly<Record<string, Step>> = {
  ArrowLeft: "back",
  ArrowRight: "forward",
  Home: "first",
  End: "last",
};

/** Returns a function that removes the listeners. */
export function listenToKeys(page: Page): () => void {
  const ended = new AbortController();
  /** Where the pointer was pressed, until a key is pressed. */
  let pointed: Node | null = null;
  /** The element that has the focus because of a click. It does not get Space, because the eyes are on the board. */
  let clicked: Element | null = null;
  const isClicked = (target: EventTarget | null) => target instanceof Element && target === clicked;

  const onKeyDown = (event: KeyboardEvent) => {
    const { target, defaultPrevented } = event;
    pointed = null;
    const isTyping = target instanceof Element && target.closest(typing) !== null;
    const isSettingUp = page.address.view.peek() === "set-up";
    if (isTyping && event.key === "Enter") {
      giveKeysBack(target);
    }
    if (defaultPrevented || isTyping || isSettingUp || event.altKey) {
      return;
    }
    const needsSpace = target instanceof Element && target.closest(pressable) !== null && !isClicked(target);
    if (event.key === " " ? !needsSpace && playBest(page) : useKey(event, page)) {
      event.preventDefault();
    }
  };
  const onPointerDown = ({ target }: PointerEvent) => {
    pointed = target instanceof Node ? target : null;
    clicked = isPointedAt(document.activeElement, pointed) ? document.activeElement : null;
  };
  const onFocusIn = ({ target }: FocusEvent) => {
    clicked = target instanceof Element && isPointedAt(target, pointed) ? target : null;
  };
  document.addEventListener("keydown", onKeyDown, ended);
  document.addEventListener("pointerdown", onPointerDown, { capture: true, signal: ended.signal });
  document.addEventListener("focusin", onFocusIn, ended);
  return () => ended.abort();
}

/** False for an element that the page itself has focused, such as the first one of a dialog. */
function isPointedAt(element: Element | null, pointed: Node | null): boolean {
  const labels = element instanceof HTMLInputElement ? [...(element.labels ?? [])] : [];
  return pointed !== null && [element, ...labels].some((one) => one?.contains(pointed));
}

/** After Enter in a field, the board gets the keys, unless the text is wrong. */
function giveKeysBack(field: Element): void {
  requestAnimationFrame(() => {
    const isWrong = field.getAttribute("aria-invalid") === "true";
    if (field.matches("input") && !field.closest("dialog") && !isWrong) {
      focusBoard();
    }
  });
}

const isAnalysis = ({ address }: Page) => address.view.peek() === "analysis";

function playBest(page: Page): boolean {
  if (isAnalysis(page)) {
    page.analysis.playBest();
  }
  return isAnalysis(page);
}

/** The board as a whole, and the moves. On a square of the board, the arrow keys move the square. */
const choosing = ".board-cursor, .move-list";

function useKey(event: KeyboardEvent, page: Page): boolean {
  const { game, review } = page;
  const { key, target, shiftKey } = event;
  if (event.ctrlKey || event.metaKey) {
    const letter = key.toLowerCase();
    const isUndo = letter === "z" && !shiftKey;
    const isRedo = (letter === "z" && shiftKey) || letter === "y";
    if (isUndo) {
      game.undo();
    } else if (isRedo) {
      game.redo();
    }
    return isUndo || isRedo;
  }
  const step = steps[key];
  if (shiftKey && !isAnalysis(page) && (key === "ArrowLeft" || key === "ArrowRight")) {
    review.mistakes.goTo(key === "ArrowLeft" ? "before" : "behind");
  } else if (step && !shiftKey) {
    game.step(step);
  } else if (key === "ArrowUp" || key === "ArrowDown") {
    const isChoosing = target instanceof Element && target.closest(choosing) !== null;
    return isChoosing && !shiftKey && game.stepAside(key === "ArrowUp" ? -1 : 1);
  } else if (key === "f") {
    game.flip();
  } else if (key === "m" && isAnalysis(page)) {
    document.getElementById("move")?.focus();
  } else if (key === "?") {
    showHelp();
  } else {
    return false;
  }
  return true;
}
