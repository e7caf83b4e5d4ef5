import type { PgnSource } from "./pgn-error.ts";
import { blank, escapedLine, quotes, spacedResult, tagOpening, word } from "./pgn-patterns.ts";
import { gameMaxCharacters } from "./read-pgn.ts";
import { otherLetterIn, readWord } from "./read-word.ts";

/** Matches a tag pair at the beginning of a line. The first group captures the name of the tag. */
const tagLine = new RegExp(`^${blank}*${tagOpening}.*?(?:[${quotes}][ \\t]*\\]|(?=[\\n\\r]|$))`);
/** Matches a line that begins like a tag. If this line is not a tag, its words are no moves. */
const bracketLine = new RegExp(`^${blank}*\\[(?!%)`);
const blankLine = new RegExp(`^${blank}*$`);
const variationFirst = new RegExp(`^${blank}*[()]`);
const oneBlank = new RegExp(blank);
const words = new RegExp(word, "g");
const spacedResults = new RegExp(`(?<![^\\s{}()])${spacedResult}`, "g");
const commentMarks = /[{};]/g;

const lineEnds = /(?<=\n|\r(?!\n))/;

/** The maximum length of an incomplete line that waits for the next chunk, in characters. */
const lineMaxCharacters = 64 * 1024;

/** A comment that contains a tag must end within this many characters after the tag. */
const commentMaxCharacters = 64 * 1024;

/**
 * Splits a text into games, line by line. A tag begins a new game in these cases:
 * - the current game has moves, or has a result after a blank line
 * - the tag is repeated after a blank line or a comment
 *
 * A line of the header contains moves only if all its words can be read: otherwise, a header line that cannot be read would
 * begin a new game, and the FEN above this line would be lost. A tag in a comment begins a new game only if the comment
 * seems to have no end.
 */
export function createSplitter() {
  let game = 1;
  let offset = 0;
  let line = 1;
  let text = "";
  let hasMoves = false;
  const tags = new Set<string>();
  /** True until a blank line follows the last tag. */
  let isHeader = true;
  /** The text of this line outside of comments whose words are not read yet. */
  let unread = "";
  let hasLineMove = false;
  let hasLineResult = false;
  let isLineReadable = true;
  let isAfterBlank = false;
  let isAfterComment = false;
  let inComment = false;
  /** True if the line begins with `%`, or if `;` has begun a comment on this line. */
  let isIgnored = false;
  let nextOffset = 0;
  let nextLine = 1;
  let isLineStart = true;
  /** The text from the first tag in a comment. The splitter waits with this text until the comment ends or is too long. */
  let undecided: string[] | undefined;
  let undecidedCharacters = 0;
  let hasTagAfterBlank = false;

  /** Reads a line, or a part of a long line. Returns the games that end before this part. */
  function take(part: string): readonly PgnSource[] {
    if (inComment && isLineStart && tagLine.test(part)) {
      undecided ??= [];
      hasTagAfterBlank ||= isAfterBlank;
    }
    if (undecided === undefined) {
      return takeSurely(part);
    }
    undecided.push(part);
    undecidedCharacters += part.length;
    isAfterBlank = isLineStart && blankLine.test(part);
    isLineStart = endsLine(part);
    const brace = /[{}]/.exec(part)?.[0];
    if (brace === undefined && undecidedCharacters <= commentMaxCharacters) {
      return [];
    }
    return release(brace !== "}" && (brace === undefined || hasTagAfterBlank));
  }

  function release(asGame: boolean): readonly PgnSource[] {
    const parts = undecided ?? [];
    undecided = undefined;
    undecidedCharacters = 0;
    hasTagAfterBlank = false;
    isLineStart = true;
    if (!asGame) {
      return parts.flatMap(takeSurely);
    }
    const before = endGame();
    return [before, ...parts.flatMap(take)];
  }

  function takeSurely(part: string): readonly PgnSource[] {
    const found = isLineStart && !inComment ? tagLine.exec(part) : null;
    const tag = found?.[1];
    const begins = tag !== undefined && (hasMoves || ((isAfterBlank || isAfterComment) && tags.has(tag)));
    const finished = begins ? [endGame()] : [];
    isAfterBlank = isLineStart && blankLine.test(part);
    if (isLineStart) {
      isIgnored = !inComment && (escapedLine.test(part) || (tag === undefined && bracketLine.test(part)));
      isHeader &&= !isAfterBlank;
      unread = "";
      hasLineMove = false;
      hasLineResult = false;
      isLineReadable = true;
    }
    if (tag !== undefined) {
      tags.add(tag);
      isAfterComment = false;
      isHeader = true;
    }
    let rest = part.slice(found?.[0].length);
    for (let pair = tagLine.exec(rest); found && pair; pair = tagLine.exec(rest)) {
      rest = rest.slice(pair[0].length);
    }
    readComments(rest);
    readWords(endsLine(part));
    if (text.length <= gameMaxCharacters) {
      text += part;
    }
    nextOffset += part.length;
    isLineStart = endsLine(part);
    nextLine += isLineStart ? 1 : 0;
    return finished;
  }

  function readComments(rest: string): void {
    for (let at = 0; at < rest.length && !isIgnored; ) {
      if (inComment) {
        const end = rest.indexOf("}", at);
        inComment = end === -1;
        at = inComment ? rest.length : end + 1;
        isAfterComment = true;
      } else {
        commentMarks.lastIndex = at;
        const mark = commentMarks.exec(rest);
        const end = mark?.index ?? rest.length;
        unread += rest.slice(at, end) + (mark ? " " : "");
        inComment = mark?.[0] === "{";
        isIgnored = mark?.[0] === ";";
        at = end + 1;
      }
    }
  }

  /** Reads the words of this line until the game has moves. A part of a long line can end within a word. */
  function readWords(isLineEnd: boolean): void {
    const end = isLineEnd ? unread.length : endOfWords(unread);
    const text = hasMoves ? "" : unread.slice(0, end).replaceAll(spacedResults, withoutBlanks);
    unread = hasMoves ? "" : unread.slice(end);
    // No game begins with a variation.
    isLineReadable &&= hasLineMove || !variationFirst.test(text);
    for (const [written] of text.matchAll(words)) {
      const tokens = readWord(written);
      const isForeignMove = tokens === undefined && otherLetterIn(written) !== undefined;
      isLineReadable &&= tokens !== undefined || isForeignMove;
      // A line `--` between two texts is not a null move.
      hasLineMove ||=
        isForeignMove || tokens?.some((token) => token.kind === "move" && token.san !== "--") === true;
      hasLineResult ||= tokens?.some(({ kind }) => kind === "result") === true;
      if (hasLineMove && !isHeader) {
        break;
      }
    }
    const isRead = isLineEnd && isLineReadable;
    hasMoves = hasMoves || (isHeader ? isRead && hasLineMove : hasLineMove || (isRead && hasLineResult));
  }

  function endGame(): PgnSource {
    const source = { text, file: { game, offset, line } };
    game++;
    offset = nextOffset;
    line = nextLine;
    text = "";
    hasMoves = false;
    isHeader = true;
    unread = "";
    inComment = false;
    tags.clear();
    return source;
  }

  return {
    take,
    end(): readonly PgnSource[] {
      const finished = undecided ? release(true) : [];
      return blankLine.test(text) ? finished : [...finished, endGame()];
    },
  };
}

/** Splits a file of any size. Only one game at a time is in memory. */
export async function* splitGames(chunks: AsyncIterable<string>): AsyncGenerator<PgnSource, void> {
  const splitter = createSplitter();
  let rest = "";
  for await (const chunk of chunks) {
    const parts = `${rest}${chunk}`.split(lineEnds);
    const last = parts.at(-1) ?? "";
    // A carriage return at the end of a chunk may be the first half of a line end.
    rest = last.endsWith("\n") || last.length > lineMaxCharacters ? "" : last;
    for (const part of rest === "" ? parts : parts.slice(0, -1)) {
      yield* splitter.take(part);
    }
  }
  yield* splitter.take(rest);
  yield* splitter.end();
}

/** A longer word is not a move, so the splitter does not wait for its end. */
const wordMaxCharacters = 64;

/** Returns the end of the last complete word. */
function endOfWords(text: string): number {
  const first = Math.max(0, text.length - wordMaxCharacters);
  for (let end = text.length; end > first; end--) {
    if (oneBlank.test(text.charAt(end - 1))) {
      return end;
    }
  }
  return text.length;
}

function withoutBlanks(text: string): string {
  return text.replaceAll(/\s/g, "");
}

function endsLine(part: string): boolean {
  return part.endsWith("\n") || part.endsWith("\r");
}
