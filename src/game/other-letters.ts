import type { Warning } from "../chess/position.ts";
import { errorFromViolations, KibitzError } from "../errors/errors.ts";
import { playPgn } from "./game.ts";
import { type PgnSource, pgnCorrected } from "./pgn-error.ts";
import { createScanner } from "./pgn-scanner.ts";
import { movesMax, readPgn, suggestionMaxCharacters } from "./read-pgn.ts";
import { otherLetterIn, readWord } from "./read-word.ts";

/**
 * King, queen, rook, bishop and knight in other languages. Some letters mean different pieces: S is a knight in German and
 * Polish, and a bishop in Czech.
 */
const languages: readonly (readonly [name: string, letters: readonly string[]])[] = [
  ["German", [..."KDTLS"]],
  ["French", [..."RDTFC"]],
  ["Spanish or Italian", [..."RDTAC"]],
  ["Portuguese", [..."RDTBC"]],
  ["Dutch", [..."KDTLP"]],
  ["Polish", [..."KHWGS"]],
  ["Czech or Slovak", [..."KDVSJ"]],
  ["Hungarian", [..."KVBFH"]],
  ["Romanian", [..."RDTNC"]],
  ["Finnish", [..."KDTLR"]],
  ["Estonian", [..."KLVOR"]],
  ["Icelandic", [..."KDHBR"]],
  ["Turkish", [..."ŞVKFA"]],
  ["Russian", ["Кр", "Ф", "Л", "С", "К"]],
  ["Ukrainian", ["Кр", "Ф", "Т", "С", "К"]],
  ["Bulgarian", [..."ЦДТОК"]],
  ["Serbian", [..."КДТЛС"]],
];
const english = "KQRBN";

/** Matches the letters of a piece, before its squares or after a promotion. */
const pieceLetter =
  /(?<!\p{L})(?:Кр|\p{Lu})(?=[a-h]?[1-8]?[-x:]?[a-h][1-8])|(?<=[a-h][18][=/]?)\p{Lu}(?!\p{L})/gu;

const wordsAtOnce = 100;

interface InEnglish {
  /** The PGN with English letters and the same offsets. */
  readonly source: PgnSource;
  readonly warning: Warning;
}

/**
 * Translates the letters of pieces if a game was rejected because of one. Undefined unless all letters belong to one language,
 * all moves are legal, and no other language gives a different legal game: R is a rook in English and a king in French.
 *
 * @param thrown the error of the game
 * @param end the end of the game, if another game follows in the text
 */
export function* inEnglish(
  thrown: unknown,
  source: PgnSource,
  end?: number,
): Generator<void, InEnglish | undefined> {
  const [violation] = thrown instanceof KibitzError && thrown.code === "invalid_pgn" ? thrown.violations : [];
  const { token = "", offset = 0, ply = 1 } = violation?.place ?? {};
  const letter = otherLetterIn(token);
  if (letter === undefined) {
    return undefined;
  }
  const meant = new Map<string, string>();
  for (const [language, letters] of languages) {
    const text = letters.includes(letter) ? yield* translated(source.text, letters) : undefined;
    if (text !== undefined && !meant.has(text) && (yield* isLegal({ ...source, text }, end))) {
      meant.set(text, language);
    }
  }
  const [only, ...others] = meant;
  if (only === undefined || others.length > 0) {
    return undefined;
  }
  const [text, language] = only;
  const message = `The pieces have ${language} letters, and were read as in English`;
  const place = { offset: offset - (source.file?.offset ?? 0), ply };
  return { source: { ...source, text }, warning: pgnCorrected(source, { message, ...place }) };
}

/** Adds the game in English letters to an error as a suggestion, if {@link inEnglish} can translate it. */
export function* suggestEnglish(thrown: unknown, source: PgnSource, end?: number): Generator<void, unknown> {
  if (source.text.length > suggestionMaxCharacters) {
    return thrown;
  }
  const found = yield* inEnglish(thrown, source, end);
  return found && thrown instanceof KibitzError
    ? errorFromViolations(
        thrown.violations.map((violation) => ({ ...violation, allowed: { examples: [found.source.text] } })),
      )
    : thrown;
}

/** Returns undefined if a word has no meaning in this language, or if there are more moves than one game may have. */
function* translated(text: string, letters: readonly string[]): Generator<void, string | undefined> {
  const scanner = createScanner(text);
  const parts: string[] = [];
  let copied = 0;
  let moveCount = 0;
  let left = wordsAtOnce;
  for (let tokens = scanner.read(); tokens !== undefined; tokens = scanner.read()) {
    for (const token of tokens) {
      if (token.kind !== "move" && token.kind !== "unexpected") {
        continue;
      }
      const word = token.text.replaceAll(pieceLetter, (letter) => english[letters.indexOf(letter)] ?? "?");
      moveCount++;
      if (moveCount > movesMax || readWord(word) === undefined) {
        return undefined;
      }
      // Pad the word, so that no offset changes if a piece has two letters.
      parts.push(text.slice(copied, token.offset), word.padEnd(token.text.length));
      copied = token.offset + token.text.length;
    }
    if (--left === 0) {
      yield;
      left = wordsAtOnce;
    }
  }
  return parts.join("") + text.slice(copied);
}

function* isLegal(source: PgnSource, end?: number): Generator<void, boolean> {
  try {
    yield* playPgn(yield* readPgn(source, end));
    return true;
  } catch (thrown) {
    if (thrown instanceof KibitzError) {
      return false;
    }
    throw thrown;
  }
}
