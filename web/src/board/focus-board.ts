/** Gives the keys to the board as a whole: the arrow keys then step through the game. */
export function focusBoard(): void {
  document.querySelector<HTMLElement>(".board-cursor")?.focus({ preventScroll: true });
}
