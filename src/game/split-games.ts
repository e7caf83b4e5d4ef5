import type { PgnSource } from "./pgn-error.ts";
import { quotes, tagOpening } from "./pgn-scanner.ts";
import { gameMaxCharacters } from "./read-pgn.ts";

/** Matches a tag pair at the beginning of a line. The first group captures the name of the tag. */
const tagLine = new RegExp(`^[ \\t\\ufeff\\u001a]*${tagOpening}.*?(?:[${quotes}][ \\t]*\\]|(?=[\\n\\r]|$))`);
const commentMarks = /[{};]/g;

const lineEnds = /(?<=\n|\r(?!\n))/;

/** The maximum length of an incomplete line that waits for the next chunk, in characters. */
const lineMaxCharacters = 64 * 1024;

/** A comment that contains a tag must end within this many characters after the tag. */
const commentMaxCharacters = 64 * 1024;

/**
 * Splits a text into games, line by line. A tag begins a new game if the current game has moves, or if the tag is repeated
 * after a blank line or a comment. A tag in a comment begins a new game only if the comment seems to have no end.
 */
export function createSplitter() {
  let game = 1;
  let offset = 0;
  let line = 1;
  let text = "";
  let hasMoves = false;
  const tags = new Set<string>();
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
    isAfterBlank = isLineStart && part.trim() === "";
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
    if (isLineStart) {
      isIgnored = !inComment && part.startsWith("%");
    }
    if (tag !== undefined) {
      tags.add(tag);
      isAfterComment = false;
    }
    isAfterBlank = isLineStart && part.trim() === "";
    let rest = part.slice(found?.[0].length);
    for (let pair = tagLine.exec(rest); found && pair; pair = tagLine.exec(rest)) {
      rest = rest.slice(pair[0].length);
    }
    readMoves(rest);
    if (text.length <= gameMaxCharacters) {
      text += part;
    }
    nextOffset += part.length;
    isLineStart = endsLine(part);
    nextLine += isLineStart ? 1 : 0;
    return finished;
  }

  function readMoves(rest: string): void {
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
        hasMoves ||= /\S/.test(rest.slice(at, end));
        inComment = mark?.[0] === "{";
        isIgnored = mark?.[0] === ";";
        at = end + 1;
      }
    }
  }

  function endGame(): PgnSource {
    const source = { text, file: { game, offset, line } };
    game++;
    offset = nextOffset;
    line = nextLine;
    text = "";
    hasMoves = false;
    inComment = false;
    tags.clear();
    return source;
  }

  return {
    take,
    end(): readonly PgnSource[] {
      const finished = undecided ? release(true) : [];
      return text.trim() === "" ? finished : [...finished, endGame()];
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

function endsLine(part: string): boolean {
  return part.endsWith("\n") || part.endsWith("\r");
}
