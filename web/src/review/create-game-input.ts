import { batch, computed, effect, signal } from "@preact/signals";
import type { GameState } from "../game/create-game.ts";
import { store, stored } from "../parts/stored.ts";
import { readPasted } from "../pasted-text.ts";
import { type FoundGame, foundGames } from "./found-games.ts";
import { placeOfToken, type TextPlace } from "./text-place.ts";

const place = "kibitz-pgn";

const fileMaxMegabytes = 20;

export interface TextViolation extends TextPlace {
  readonly message: string;
  /** A corrected PGN. Undefined if the error message suggests no correction. */
  readonly suggested: string | undefined;
  /** The first line has the number 1. */
  readonly line: number;
}

interface Deps {
  readonly game: GameState;
  start(pgn: string): void;
}

export function createGameInput({ game, start }: Deps) {
  const text = signal(stored("sessionStorage", place) ?? "");
  const found = signal<readonly FoundGame[]>([]);
  const refusal = signal<string | undefined>(undefined);

  const ends = [
    // Show an invalid PGN in the field, even if the PGN was in a link.
    effect(() => {
      const refused = game.refused.value;
      if (refused?.kind === "pgn") {
        text.value = refused.text;
      }
    }),
    effect(() => store("sessionStorage", place, text.value || undefined)),
  ];

  function read(pgn: string): void {
    batch(() => {
      text.value = pgn;
      refusal.value = undefined;
      if (game.takePgn(pgn).kind === "game") {
        start(pgn);
      }
    });
  }

  /** Reviews a single game at once. Lists the games if the text contains several games. */
  async function takeText(brought: string, name = "This text"): Promise<void> {
    const games = await foundGames(brought);
    const [first] = games;
    batch(() => {
      found.value = games.length > 1 ? games : [];
      if (games.length === 1 && first) {
        read(first.text);
      } else {
        refusal.value = first ? undefined : `${name} contains no chess game.`;
      }
    });
  }

  return {
    text,
    /** The games of a text with several games. */
    found,
    /** The reason why the last text or file was rejected. */
    refusal,
    violation: computed<TextViolation | undefined>(() => {
      const refused = game.refused.value;
      if (refused?.kind !== "pgn" || refused.text !== text.value) {
        return undefined;
      }
      const [violation] = refused.violations;
      const place = violation && "place" in violation ? violation.place : undefined;
      return violation && place && "offset" in place
        ? {
            message: violation.message,
            suggested: refused.suggestedPgn,
            ...placeOfToken(text.value, place.offset, place.token),
            line: place.line ?? 1,
          }
        : undefined;
    }),
    read,
    takeText,

    async takeFile(file: File): Promise<void> {
      if (file.size > fileMaxMegabytes * 1_000_000) {
        refusal.value = `${file.name} is too large: files up to ${fileMaxMegabytes} MB can be read. Please split it.`;
        return;
      }
      const content = await file.text().catch(() => undefined);
      if (content === undefined) {
        refusal.value = `${file.name} cannot be read.`;
      } else if (readPasted(content)?.kind === "pgn") {
        await takeText(content, file.name);
      } else {
        refusal.value = `${file.name} contains no chess game.`;
      }
    },

    dispose(): void {
      for (const end of ends) {
        end();
      }
    },
  };
}
