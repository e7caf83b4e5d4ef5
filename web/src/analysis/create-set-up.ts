import { computed, signal } from "@preact/signals";
import type { GameState } from "../game/create-game.ts";
import { store, stored } from "../parts/stored.ts";
import { enPassantSquares, type SetUp, setUpFromFen } from "./set-up.ts";

const place = "kibitz-set-up";

interface Kept {
  /** The FEN on the board when the editor was opened. */
  readonly from: string;
  readonly setUp: SetUp;
}

/** A reload of the page keeps the position in the editor. */
export type SetUpState = ReturnType<typeof createSetUpState>;

export function createSetUpState(game: GameState) {
  const kept = signal<Kept | undefined>(JSON.parse(stored("sessionStorage", place) ?? "null") ?? undefined);
  const now = computed(() => {
    const { fen } = game.at.value.position;
    return kept.value?.from === fen ? kept.value.setUp : setUpFromFen(fen);
  });

  return {
    now,

    change(part: Partial<SetUp>): void {
      const next = { ...now.peek(), ...part };
      const enPassant = enPassantSquares(next).find((square) => square === next.enPassant) ?? "-";
      kept.value = { from: game.at.peek().position.fen, setUp: { ...next, enPassant } };
      store("sessionStorage", place, JSON.stringify(kept.value));
    },

    reset(): void {
      kept.value = undefined;
      store("sessionStorage", place, undefined);
    },
  };
}
