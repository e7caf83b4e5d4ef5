import type { GameState } from "../game/create-game.ts";

/** How far a wheel is turned for a step, in pixels: less than a notch of any mouse. */
const stepPixels = 50;
const linePixels = 25;

/** Returns a listener that steps through the game with the wheel of the mouse. Small turns of a touchpad add up. */
export function stepByWheel(game: GameState): (event: WheelEvent) => void {
  let turned = 0;
  return (event) => {
    if (event.ctrlKey) {
      // The wheel changes the size of the page.
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
