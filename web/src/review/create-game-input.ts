import { batch, computed, effect, signal } from "@preact/signals";
import type { GameState } from "../game/create-game.ts";
import { store, stored } from "../parts/stored.ts";
import { readPasted } from "../pasted-text.ts";
import { type FoundGame, foundGames } from "./found-games.ts";
import { placeOfToken, type TextPlace } from "./text-place.ts";

/** The place of the field's text in the browser's storage. */
const place = "kibitz-pgn";

/** The largest file that is read, in MB. */
const fileMaxMegabytes = 20;

/** A place at which the text of the field could not be read. */
export interface TextViolation extends TextPlace {
  readonly message: string;
  /** The game up to the error; undefined if nothing of it can be read. */
  readonly suggested: string | undefined;
  /** From 1. */
  readonly line: number;
}

interface Deps {
  readonly game: GameState;
  /** Reviews the game, whose text was just read. */
  start(pgn: string): void;
}

/** The text of a game to review, and the games of a file. */
export function createGameInput({ game, start }: Deps) {
  const text = signal(stored("sessionStorage", place) ?? "");
  const found = signal<readonly FoundGame[]>([]);
  const refusal = signal<string | undefined>(undefined);

  const ends = [
    // The field shows a text that could not be read, also that of a link.
    effect(() => {
      const refused = game.refused.value;
      if (refused?.kind === "pgn") {
        text.value = refused.text;
      }
    }),
    // A reload loses no text, also one that is not a game yet.
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

  /** Takes a text with games: one game is reviewed at once, of several one can be chosen. @param name of its file */
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
    /** The PGN in the field. */
    text,
    /** The games of a text that has several; empty otherwise. */
    found,
    /** Why a text or file was not taken; undefined as soon as the next one is. */
    refusal,
    /** The error in the text; undefined if the text has changed since. */
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

    /** Reads a file that was chosen or dropped. */
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
