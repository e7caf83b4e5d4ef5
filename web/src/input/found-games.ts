import { createScanner } from "../../../src/game/pgn-scanner.ts";
import { splitGames } from "../../../src/game/split-games.ts";

export interface FoundGame {
  /** The first game has the number 1. */
  readonly number: number;
  readonly text: string;
  readonly tags: ReadonlyMap<string, string>;
}

/** The number of characters between two pauses. Each part needs about ten milliseconds. */
const sliceCharacters = 128 * 1024;

/** Pauses between parts of the text, so that the page does not freeze. Converts line ends like a text field. */
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

/** Returns the game with a number, such as `Game 7` or `#7`, then the games whose tags contain all words. Ignores case. */
export function gamesWith(words: string, games: readonly FoundGame[]): readonly FoundGame[] {
  const number = Number(/^\s*(?:game\s*)?#?(\d+)\s*$/i.exec(words)?.[1]);
  const parts = words.toLowerCase().split(/\s+/);
  const others = games.filter((game) => {
    const all = [...game.tags.values()].join("\n").toLowerCase();
    return game.number !== number && parts.every((part) => all.includes(part));
  });
  return [...games.filter((game) => game.number === number), ...others];
}
