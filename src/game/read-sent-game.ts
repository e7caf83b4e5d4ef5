import { suggestEnglish } from "./other-letters.ts";
import { type PgnGame, readPgn } from "./read-pgn.ts";
import { createSplitter } from "./split-games.ts";

/** Matches a line, or a part of a long line. The splitter needs less than a millisecond for such a part. */
const pieces = /[^\n\r]{1,4096}(?:\r\n|\r|\n)?|\r\n|\r|\n/g;

const charactersAtOnce = 4096;

/** Reads the game in a request. Throws a KibitzError `invalid_pgn` if the text contains a second game. */
export function* readSentGame(text: string): Generator<void, PgnGame> {
  const end = yield* endOfFirst(text);
  try {
    return yield* readPgn({ text }, end);
  } catch (thrown) {
    throw yield* suggestEnglish(thrown, { text }, end);
  }
}

/** Returns the end of the first game, or undefined if the text has only one game. */
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
