/** Gives the keys to the board as a whole: the arrow keys then step through the game. A focused square keeps the keys. */
export function focusBoard(): void {
  const board = document.querySelector<HTMLElement>(".board-cursor");
  if (board && !board.contains(document.activeElement)) {
    board.focus({ preventScroll: true });
  }
}
