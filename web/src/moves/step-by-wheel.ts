import type { GameState } from "../game/create-game.ts";

/** The wheel distance of one step, in pixels. The smallest turn of a mouse wheel is longer. */
const stepPixels = 50;
const linePixels = 25;

/** Returns a listener that steps through the game. Adds up small movements on a touchpad. */
export function stepByWheel(game: GameState): (event: WheelEvent) => void {
  let turned = 0;
  return (event) => {
    if (event.ctrlKey) {
      // Ctrl and the wheel zoom the page.
      return;
    }
    event.preventDefault();
    turned += event.deltaY * (event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? 1 : linePixels);
    if (Math.abs(turned) >= stepPixels) {
      game.step(turned > 0 ? "forward" : "back");
      turned = 0;
    }
  };
}
