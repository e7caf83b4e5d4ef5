import type { GameState, Step } from "../game/create-game.ts";
import { showHelp } from "./help.tsx";
import type { Mistakes } from "./steps.tsx";

interface KeyUses {
  readonly game: GameState;
  readonly mistakes?: Mistakes;
  /** Plays the best move that the engine has found so far. */
  readonly playBest?: () => void;
}

/** Elements that use every key themselves. */
const typing = "input:not([type=checkbox]), textarea, select, [contenteditable], dialog";

/** Elements that the space bar presses. */
const pressable = "button, a, summary, input";

const steps: Readonly<Record<string, Step>> = {
  ArrowLeft: "back",
  ArrowRight: "forward",
  Home: "first",
  End: "last",
};

/** Listens to the keys of the game, anywhere on the page where they mean nothing else. Returns a function that ends it. */
export function listenToKeys(uses: KeyUses): () => void {
  const onKeyDown = (event: KeyboardEvent) => {
    const { target, defaultPrevented } = event;
    const isTyping = target instanceof Element && target.closest(typing) !== null;
    if (!defaultPrevented && !isTyping && !event.altKey && useKey(event, uses)) {
      event.preventDefault();
    }
  };
  document.addEventListener("keydown", onKeyDown);
  return () => document.removeEventListener("keydown", onKeyDown);
}

/** Does what a key is for. Returns whether it is for anything. */
function useKey(event: KeyboardEvent, { game, mistakes, playBest }: KeyUses): boolean {
  const { key, target, shiftKey } = event;
  if (event.ctrlKey || event.metaKey) {
    const isUndo = key.toLowerCase() === "z" && !shiftKey;
    if (isUndo) {
      game.undo();
    }
    return isUndo;
  }
  const step = steps[key];
  if (shiftKey && mistakes && (key === "ArrowLeft" || key === "ArrowRight")) {
    mistakes.goTo(key === "ArrowLeft" ? "before" : "behind");
  } else if (step && !shiftKey) {
    game.step(step);
  } else if (key === "f") {
    game.flip();
  } else if (key === "?") {
    showHelp();
  } else if (key === " " && playBest && !(target instanceof Element && target.closest(pressable))) {
    playBest();
  } else {
    return false;
  }
  return true;
}
