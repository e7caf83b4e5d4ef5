import { computed } from "@preact/signals";
import type { PositionFault } from "../../../src/chess/position.ts";
import type { Refused } from "../game/create-game.ts";
import { thePage } from "../the-page.ts";
import type { Play, PlayReading } from "./play.ts";

/** The state of `web/src/game/` in its former form, for parts that do not use `usePage` yet. */
const { game } = thePage;

export const play = computed<Play>(() => ({
  positions: game.line.value.map(({ position }) => position),
  moves: game.line.value.flatMap(({ move }) => move ?? []),
  warnings: game.warnings.value,
  refused: game.refused.value?.kind === "moves" ? faultsOf(game.refused.value)[0] : undefined,
}));

export const reading = computed<PlayReading>(() => {
  const link = refusedLink.value;
  return link ? { ...link, kind: "faults" } : { kind: "play", play: play.value };
});

export const ply = computed(() => game.at.value.ply);
export const position = computed(() => game.at.value.position);

const refusedInput = computed(() => refusedFrom("input"));

export const refusedFen = {
  get value(): ReturnType<typeof refusedFrom> {
    return refusedInput.value;
  },
  set value(_: ReturnType<typeof refusedFrom>) {
    if (game.refused.peek()?.from === "input") {
      game.refused.value = undefined;
    }
  },
};

export const refusedLink = computed(() => refusedFrom("link"));

function refusedFrom(from: Refused["from"]) {
  const refused = game.refused.value;
  return refused?.kind === "fen" && refused.from === from
    ? {
        kind: "faults" as const,
        text: refused.text,
        faults: faultsOf(refused),
        suggestedFen: refused.suggestedFen,
      }
    : undefined;
}

function faultsOf({ faults }: Refused): readonly PositionFault[] {
  return faults.filter((fault) => "field" in fault);
}

export function takeFen(text: string): { readonly kind: "faults" | "play" } {
  return { kind: game.takeFen(text).kind === "faults" ? "faults" : "play" };
}

export function playMoves(texts: readonly string[]): Pick<Play, "refused"> {
  return game.play(texts);
}

export function goToPly(to: number): void {
  const node = game.line.peek()[to];
  if (node) {
    game.goTo(node);
  }
}

export const { flip } = game;
