import { suggestEnglish } from "./other-letters.ts";
import { type PgnGame, readPgn } from "./read-pgn.ts";
import { createSplitter } from "./split-games.ts";

/** Matches a line, or a piece of a long line. Each takes less than a millisecond to split. */
const pieces = /[^\n\r]{1,4096}(?:\r\n|\r|\n)?|\r\n|\r|\n/g;

/** The number of characters that are split in one time slice. */
const charactersAtOnce = 4096;

/**
 * Reads the only game of a text with {@link readPgn}. Splits games as in a file, so that a text means the same game in a request
 * and in a file.
 *
 * @throws KibitzError as {@link readPgn} does, and `invalid_pgn` if a second game begins. If the pieces have the letters of
 * another language, the error suggests the game in English letters
 */
export function* readSentGame(text: string): Generator<void, PgnGame> {
  const end = yield* endOfFirst(text);
  try {
    return yield* readPgn({ text }, end);
  } catch (thrown) {
    throw yield* suggestEnglish(thrown, { text }, end);
  }
}

/** Returns the end of the first game; undefined if the text has only one game. */
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
