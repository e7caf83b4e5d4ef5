import type { PgnSource } from "./pgn-error.ts";
import { quotes, tagOpening } from "./pgn-scanner.ts";
import { gameMaxCharacters } from "./read-pgn.ts";

/** Matches a tag pair at the beginning of a line, and captures its name. */
const tagLine = new RegExp(`^[ \\t\\ufeff\\u001a]*${tagOpening}.*?(?:[${quotes}][ \\t]*\\]|(?=[\\n\\r]|$))`);
const commentMarks = /[{};]/g;

/** Matches the end of a line. A carriage return alone ends a line, as on old Macs. */
const lineEnds = /(?<=\n|\r(?!\n))/;

/** The most characters of an unfinished line that are kept, because the beginning of a line decides its meaning. */
const lineMaxCharacters = 64 * 1024;

/** The most characters after a tag in a comment that are searched for the end of the comment. */
const commentMaxCharacters = 64 * 1024;

/**
 * Splits a text into games, line by line. A game ends if a tag pair begins a line after its moves; a game without moves, if one
 * of its tags is repeated after a blank line or a comment.
 *
 * A tag pair in a comment ends no game, unless the comment is never closed: no brace follows the tag, or the next brace opens a
 * comment and a blank line precedes the tag. Later, `readPgn` rejects the unclosed comment, and games that are too long, of which
 * only a little more than the maximum is kept.
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
  /** True if the line begins with `%`, or `;` has begun a comment. */
  let isIgnored = false;
  let nextOffset = 0;
  let nextLine = 1;
  /** True if the next part begins a line. */
  let isFresh = true;
  /** The parts since the first tag in a comment, which are read again if the comment does not end. */
  let held: string[] | undefined;
  let heldCharacters = 0;
  /** True if a blank line precedes one of the tags in the comment. */
  let isHeldAfterBlank = false;

  /** Takes a line, or a part of a long one. Returns the games that end before it. */
  function take(part: string): readonly PgnSource[] {
    if (inComment && isFresh && tagLine.test(part)) {
      held ??= [];
      isHeldAfterBlank ||= isAfterBlank;
    }
    if (held === undefined) {
      return takeSurely(part);
    }
    held.push(part);
    heldCharacters += part.length;
    isAfterBlank = isFresh && part.trim() === "";
    isFresh = endsLine(part);
    const brace = /[{}]/.exec(part)?.[0];
    if (brace === undefined && heldCharacters <= commentMaxCharacters) {
      return [];
    }
    return release(brace !== "}" && (brace === undefined || isHeldAfterBlank));
  }

  function release(asGame: boolean): readonly PgnSource[] {
    const parts = held ?? [];
    held = undefined;
    heldCharacters = 0;
    isHeldAfterBlank = false;
    isFresh = true;
    if (!asGame) {
      return parts.flatMap(takeSurely);
    }
    const before = endGame();
    return [before, ...parts.flatMap(take)];
  }

  function takeSurely(part: string): readonly PgnSource[] {
    const found = isFresh && !inComment ? tagLine.exec(part) : null;
    const tag = found?.[1];
    const begins = tag !== undefined && (hasMoves || ((isAfterBlank || isAfterComment) && tags.has(tag)));
    const finished = begins ? [endGame()] : [];
    if (isFresh) {
      isIgnored = !inComment && part.startsWith("%");
    }
    if (tag !== undefined) {
      tags.add(tag);
      isAfterComment = false;
    }
    isAfterBlank = isFresh && part.trim() === "";
    let rest = part.slice(found?.[0].length);
    for (let pair = tagLine.exec(rest); found && pair; pair = tagLine.exec(rest)) {
      rest = rest.slice(pair[0].length);
    }
    readMoves(rest);
    if (text.length <= gameMaxCharacters) {
      text += part;
    }
    nextOffset += part.length;
    isFresh = endsLine(part);
    nextLine += isFresh ? 1 : 0;
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
    /** Returns the games that end with the text. */
    end(): readonly PgnSource[] {
      const finished = held ? release(true) : [];
      return text.trim() === "" ? finished : [...finished, endGame()];
    },
  };
}

/** Splits a file of any size, and keeps only one game at a time in memory. */
export async function* splitGames(chunks: AsyncIterable<string>): AsyncGenerator<PgnSource, void> {
  const splitter = createSplitter();
  let rest = "";
  for await (const chunk of chunks) {
    const parts = `${rest}${chunk}`.split(lineEnds);
    const last = parts.at(-1) ?? "";
    // A carriage return at the end of a chunk may be half of a line end.
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
