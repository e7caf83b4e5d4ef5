import { suggestEnglish } from "./other-letters.ts";
import { type PgnGame, readPgn } from "./read-pgn.ts";
import { createSplitter } from "./split-games.ts";

/** Lines, and pieces of long ones: each takes less than a millisecond. */
const pieces = /[^\n\r]{1,4096}(?:\r\n|\r|\n)?|\r\n|\r|\n/g;

/** Characters that are split in one time slice. */
const charactersAtOnce = 4096;

/**
 * Reads the only game of a text with {@link readPgn}. Games are split as in a file, so that both mean the same game.
 *
 * @throws KibitzError as {@link readPgn}; `invalid_pgn` where a second game begins. If the pieces have the letters of another language,
 * the game in English letters is suggested
 */
export function* readSentGame(text: string): Generator<void, PgnGame> {
  const end = yield* endOfFirst(text);
  try {
    return yield* readPgn({ text }, end);
  } catch (thrown) {
    throw yield* suggestEnglish(thrown, { text }, end);
  }
}

/** Undefined if only one game is in the text. */
function* endOfFirst(text: string): Generator<void, number | undefined> {
  const splitter = createSplitter();
  let characters = 0;
  for (const [piece] of text.matchAll(pieces)) {
    const [first] = splitter.take(piece);
    if (first) {
      return first.text.length;
    }
    characters += piece.length + 32;
    if (characters > charactersAtOnce) {
      characters = 0;
      yield;
    }
  }
  const [first, second] = splitter.end();
  return second && first?.text.length;
}
