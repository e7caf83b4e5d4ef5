import { computed, signal } from "@preact/signals";
import { readPlay } from "./play.ts";
import { play, ply, position } from "./state.ts";

/** Moves of a line that somebody points at, from the position on the board; none for the board itself. */
export const pointedAt = signal<readonly string[]>([]);

/** The shown position: that of the board, or the one after the moves under the pointer. */
export const shown = computed(() => {
  const { fen, root, moves } = position.value;
  const ahead = pointedAt.value;
  const last = play.value.moves[ply.value - 1];
  if (ahead.length === 0) {
    return { position: position.value, last, isPreview: false };
  }
  const read = readPlay(root, [...moves, ...ahead]);
  const there = read.kind === "play" ? read.play : undefined;
  return {
    position: there?.positions.at(-1) ?? position.value,
    last: there?.moves.at(-1) ?? last,
    isPreview: there !== undefined && there.positions.at(-1)?.fen !== fen,
  };
});
