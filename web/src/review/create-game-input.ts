import { batch, computed, effect, signal } from "@preact/signals";
import type { GameState } from "../game/create-game.ts";
import { type OlderEncoding, recoding, textOfFile } from "../game/file-text.ts";
import { store, stored } from "../parts/stored.ts";
import { readPasted } from "../pasted-text.ts";
import { type FoundGame, foundGames } from "./found-games.ts";
import { placeOfToken, type TextPlace } from "./text-place.ts";

const place = "kibitz-pgn";

const isAscii = (text: string) => !/[^\0-\x7f]/.test(text);

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
  /** The guessed encoding of the text. */
  const encoding = signal<OlderEncoding | undefined>(undefined);

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
      if (game.takePgn(pgn, "input", isAscii(pgn) ? undefined : encoding.peek()).kind === "game") {
        start(pgn);
      }
    });
  }

  /** Reviews a single game at once. Lists the games if the text contains several games. */
  async function takeText(
    brought: string,
    name = "This text",
    guessed = brought === text.peek() ? encoding.peek() : undefined,
  ): Promise<void> {
    const games = await foundGames(brought);
    const [first] = games;
    batch(() => {
      encoding.value = guessed;
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

    edit(next: string): void {
      batch(() => {
        text.value = next;
        encoding.value = undefined;
        refusal.value = undefined;
      });
    },

    async takeFile(file: File): Promise<void> {
      if (file.size > fileMaxMegabytes * 1_000_000) {
        refusal.value = `${file.name} is too large: files up to ${fileMaxMegabytes} MB can be read. Please split it.`;
        return;
      }
      const bytes = await file.arrayBuffer().catch(() => undefined);
      const content = bytes && textOfFile(new Uint8Array(bytes));
      if (content === undefined) {
        refusal.value = `${file.name} cannot be read.`;
      } else if (readPasted(content.text)?.kind === "pgn") {
        await takeText(content.text, file.name, content.encoding);
      } else {
        refusal.value = `${file.name} contains no chess game.`;
      }
    },

    /** Reads the letters of the game, and of the other games in the file, in another encoding. */
    recode(to: OlderEncoding): void {
      const from = game.moment.peek().encoding;
      if (from) {
        const change = recoding(from, to);
        batch(() => {
          game.recode(to);
          encoding.value = to;
          text.value = change(text.peek());
          found.value = found.peek().map((one) => ({
            ...one,
            text: change(one.text),
            tags: new Map([...one.tags].map(([name, value]) => [name, change(value)])),
          }));
        });
      }
    },

    dispose(): void {
      for (const end of ends) {
        end();
      }
    },
  };
}
