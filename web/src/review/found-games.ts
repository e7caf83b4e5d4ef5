import { createScanner } from "../../../src/game/pgn-scanner.ts";
import { splitGames } from "../../../src/game/split-games.ts";

/** A game of a text that may have several. */
export interface FoundGame {
  /** Its place in the text: 1 for the first. */
  readonly number: number;
  /** Its own part of the text. */
  readonly text: string;
  /** All tags of the PGN by their names. */
  readonly tags: ReadonlyMap<string, string>;
}

/**
 * The games of a text, taken apart as the service's own command line does. Lines end as in a text field, so that places in
 * what is sent are places in what is seen.
 */
export async function foundGames(text: string): Promise<readonly FoundGame[]> {
  const games: FoundGame[] = [];
  for await (const source of splitGames(inOnePiece(text.replaceAll(/\r\n?/g, "\n")))) {
    games.push({ number: games.length + 1, text: source.text, tags: tagsOf(source.text) });
  }
  return games;
}

async function* inOnePiece(text: string): AsyncGenerator<string, void> {
  yield text;
}

/** Up to whatever comes behind them. */
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

/** The value of a tag; undefined where it is not there or says that nobody knows: `?`, `????.??.??`. */
export function known(tags: ReadonlyMap<string, string>, name: string): string | undefined {
  const value = tags.get(name)?.trim() ?? "";
  return /^[?.]*$/.test(value) ? undefined : value;
}

/** The games in which each of the words stands in a tag, whatever their case. */
export function gamesWith(words: string, games: readonly FoundGame[]): readonly FoundGame[] {
  const parts = words.toLowerCase().split(/\s+/);
  return games.filter(({ tags }) => {
    const all = [...tags.values()].join("\n").toLowerCase();
    return parts.every((part) => all.includes(part));
  });
}

/** A name for the file of a game that every system takes: `Morphy-Isouard-1858.pgn`. */
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
