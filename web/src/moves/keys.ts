import type { Step } from "../game/create-game.ts";
import type { Page } from "../page.ts";
import { showHelp } from "./help.tsx";

/** The page ignores keys that are pressed in these elements, because the elements need the keys. */
const typing = "input:not([type=checkbox], [type=range]), textarea, select, [contenteditable], dialog";

const pressable = "button, a, summary, input";

const steps: Readonly<Record<string, Step>> = {
  ArrowLeft: "back",
  ArrowRight: "forward",
  Home: "first",
  End: "last",
};

/** Returns a function that removes the listener. */
export function listenToKeys(page: Page): () => void {
  const onKeyDown = (event: KeyboardEvent) => {
    const { target, defaultPrevented } = event;
    const isTyping = target instanceof Element && target.closest(typing) !== null;
    const isSettingUp = page.address.view.peek() === "set-up";
    if (!defaultPrevented && !isTyping && !isSettingUp && !event.altKey && useKey(event, page)) {
      event.preventDefault();
    }
  };
  document.addEventListener("keydown", onKeyDown);
  return () => document.removeEventListener("keydown", onKeyDown);
}

function useKey(event: KeyboardEvent, { game, review, analysis, address }: Page): boolean {
  const { key, target, shiftKey } = event;
  if (event.ctrlKey || event.metaKey) {
    const isUndo = key.toLowerCase() === "z" && !shiftKey;
    if (isUndo) {
      game.undo();
    }
    return isUndo;
  }
  const isReview = address.view.peek() === "review";
  const step = steps[key];
  if (shiftKey && isReview && (key === "ArrowLeft" || key === "ArrowRight")) {
    review.mistakes.goTo(key === "ArrowLeft" ? "before" : "behind");
  } else if (step && !shiftKey) {
    game.step(step);
  } else if (key === "f") {
    game.flip();
  } else if (key === "?") {
    showHelp();
  } else if (key === " " && !isReview && !(target instanceof Element && target.closest(pressable))) {
    analysis.playBest();
  } else {
    return false;
  }
  return true;
}
