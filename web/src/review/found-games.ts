import { createScanner } from "../../../src/game/pgn-scanner.ts";
import { splitGames } from "../../../src/game/split-games.ts";

/** One game of a text. */
export interface FoundGame {
  /** From 1. */
  readonly number: number;
  /** The part of the text that is this game. */
  readonly text: string;
  /** All tags of the PGN by their names. */
  readonly tags: ReadonlyMap<string, string>;
}

/** The characters that are split in one time slice: about ten milliseconds. */
const sliceCharacters = 128 * 1024;

/**
 * Splits a text into its games as the command line does, in time slices, so that the page does not freeze. Lines end as in a text field,
 * so that an offset in a game is the same in its field.
 */
export async function foundGames(text: string): Promise<readonly FoundGame[]> {
  const games: FoundGame[] = [];
  for await (const source of splitGames(inSlices(text.replaceAll(/\r\n?/g, "\n")))) {
    games.push({ number: games.length + 1, text: source.text, tags: tagsOf(source.text) });
  }
  return games;
}

async function* inSlices(text: string): AsyncGenerator<string, void> {
  for (let begin = 0; begin < text.length; begin += sliceCharacters) {
    yield text.slice(begin, begin + sliceCharacters);
    await new Promise((resolve) => setTimeout(resolve));
  }
}

/** The tags at the beginning of a game. */
function tagsOf(text: string): ReadonlyMap<string, string> {
  const scanner = createScanner(text);
  const tags = new Map<string, string>();
  for (;;) {
    const [token] = scanner.read() ?? [];
    if (token?.kind !== "tag") {
      return tags;
    }
    tags.set(token.name, token.value);
  }
}

/** The value of a tag; undefined if it is missing or unknown: `?`, `????.??.??`. */
export function known(tags: ReadonlyMap<string, string>, name: string): string | undefined {
  const value = tags.get(name)?.trim() ?? "";
  return /^[?.]*$/.test(value) ? undefined : value;
}

/** The games whose tags contain each of the words, in any case. */
export function gamesWith(words: string, games: readonly FoundGame[]): readonly FoundGame[] {
  const parts = words.toLowerCase().split(/\s+/);
  return games.filter(({ tags }) => {
    const all = [...tags.values()].join("\n").toLowerCase();
    return parts.every((part) => all.includes(part));
  });
}

/** A file name for a game that is valid on every system: `Morphy-Isouard-1858.pgn`. */
export function fileNameOf(tags: ReadonlyMap<string, string>): string {
  const date = known(tags, "Date")?.replaceAll(/\.\?\?/g, "");
  const parts = [known(tags, "White"), known(tags, "Black"), date].flatMap((part) => {
    const safe = part
      ?.normalize("NFC")
      .replaceAll(/[^\p{L}\p{N}.]+/gu, "-")
      .replaceAll(/^[-.]+|[-.]+$/g, "");
    return safe ? [safe] : [];
  });
  return `${parts.join("-").slice(0, 100) || "game"}.pgn`;
}
