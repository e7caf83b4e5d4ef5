import { errorFromViolations, KibitzError } from "../errors/errors.ts";
import { suggestEnglish } from "./other-letters.ts";
import { pgnCorrected, pgnError } from "./pgn-error.ts";
import { type PgnGame, readPgn, suggestionMaxCharacters } from "./read-pgn.ts";
import { createSplitter } from "./split-games.ts";
import { decodedPgn, isFen, withoutEscapes } from "./written-pgn.ts";

/** Matches a line, or a part of a long line. The splitter needs less than a millisecond for such a part. */
const pieces = /[^\n\r]{1,4096}(?:\r\n|\r|\n)?|\r\n|\r|\n/g;

const charactersAtOnce = 4096;

/** Reads the game in a request. Throws a KibitzError `invalid_pgn` if the text contains a second game. */
export function* readSentGame(text: string): Generator<void, PgnGame> {
  try {
    return yield* readOne(text);
  } catch (thrown) {
    const plain = withoutEscapes(text);
    if (plain === undefined) {
      throw yield* explained(thrown, text);
    }
    try {
      const game = yield* readOne(plain);
      const message = "The PGN was escaped twice or in quotation marks, and was read without them";
      const warning = pgnCorrected({ text }, { message, offset: 0, ply: 1 });
      return { ...game, warnings: [warning, ...game.warnings] };
    } catch (further) {
      // The error that is found later in the text is the error of the game. The other error is about the escapes.
      const isOfGame = offsetOf(further) > offsetOf(thrown);
      throw isOfGame ? yield* explained(further, plain) : yield* explained(thrown, text);
    }
  }
}

function* readOne(text: string): Generator<void, PgnGame> {
  return yield* readPgn({ text }, yield* endOfFirst(text));
}

function offsetOf(thrown: unknown): number {
  return (thrown instanceof KibitzError && thrown.violations[0]?.place?.offset) || 0;
}

/** Adds a suggestion to the error, or replaces the error if the text is a FEN. */
function* explained(thrown: unknown, text: string): Generator<void, unknown> {
  if (isFen(text)) {
    const message = "This is a FEN, and not a game in PGN: send it as `fen`";
    return pgnError({ text }, { code: "invalid_pgn", message, token: text.trim(), offset: 0, ply: 1 });
  }
  const decoded = text.length > suggestionMaxCharacters ? undefined : decodedPgn(text);
  if (decoded === undefined) {
    return yield* suggestEnglish(thrown, { text }, yield* endOfFirst(text));
  }
  try {
    yield* readOne(decoded);
    return thrown instanceof KibitzError ? withExample(thrown, decoded) : thrown;
  } catch {
    return thrown;
  }
}

function withExample({ violations }: KibitzError, example: string): KibitzError {
  return errorFromViolations(
    violations.map((violation) => ({ ...violation, allowed: { examples: [example] } })),
  );
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
