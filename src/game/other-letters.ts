import type { Warning } from "../chess/position.ts";
import { errorFromViolations, KibitzError } from "../errors/errors.ts";
import { playPgn } from "./game.ts";
import { type PgnSource, pgnCorrected } from "./pgn-error.ts";
import { createScanner } from "./pgn-scanner.ts";
import { movesMax, readPgn, suggestionMaxCharacters } from "./read-pgn.ts";
import { otherLetterIn, readWord } from "./read-word.ts";

/** The letters for king, queen, rook, bishop and knight. S is a knight in German, but a bishop in Czech. */
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
  ["English", [..."KQRBNP"]],
];
/** In English, a pawn has no letter, but the import format of PGN allows `P`. */
const english = [..."KQRBN", ""];

const pieceLetter =
  /(?<!\p{L})(?:Кр|\p{Lu})(?=[a-h]?[1-8]?[-x:]?[a-h][1-8])|(?<=[a-h][18][=/]?)\p{Lu}(?!\p{L})/gu;

const wordsAtOnce = 100;

interface InEnglish {
  /** The PGN with English letters. All offsets are the same as in the original PGN. */
  readonly source: PgnSource;
  readonly warning: Warning;
}

/** Translates the piece letters of a rejected game into English, if exactly one translation is a legal game. */
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
  const message =
    language === "English"
      ? "The letter P of the pawns was left out"
      : `The pieces have ${language} letters, and were read as in English`;
  const place = { offset: offset - (source.file?.offset ?? 0), ply };
  return { source: { ...source, text }, warning: pgnCorrected(source, { message, ...place }) };
}

/** Adds a suggestion to an error: the same PGN with the English piece letters. */
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

/** Returns undefined if a translated word is not valid PGN, or if the text has too many moves for one game. */
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
      // A translated word may be shorter. Add spaces, so that all offsets stay the same.
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
