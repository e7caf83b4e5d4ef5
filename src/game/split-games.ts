import type { PgnSource } from "./pgn-error.ts";
import { quotes } from "./pgn-scanner.ts";
import { gameMaxCharacters } from "./read-pgn.ts";

/** A tag pair at the beginning of a line, with its name. */
const tagLine = new RegExp(
  `^[ \\t\\ufeff\\u001a]*\\[[ \\t]*([A-Za-z0-9][A-Za-z0-9_+#=:-]*)[ \\t]*[${quotes}].*?(?:[${quotes}][ \\t]*\\]|(?=[\\n\\r]|$))`,
);
/** Characters that begin or end a comment. */
const commentMarks = /[{};]/g;

/** A carriage return alone ends a line, too, as on old Macs. */
const lineEnds = /(?<=\n|\r(?!\n))/;

/** Most characters of an unfinished line that are kept, to see how the line begins. */
const lineMaxCharacters = 64 * 1024;

/** Most characters after a tag in a comment that are searched for the end of the comment. */
const commentMaxCharacters = 64 * 1024;

/**
 * Splits a text into games, line by line. A game ends where a tag pair begins a line after moves: a blank line within the moves does not
 * end the game. A game without moves ends where a tag of it comes again after a blank line or a comment.
 *
 * A tag pair in a comment ends no game, unless the comment does not end: if the next brace after the tag opens a comment, or if there is
 * none, a game begins at the tag. `readPgn` refuses the game before, and a game that is too long: only a little more than its maximum
 * is kept of such a game.
 */
export function createSplitter() {
  let game = 1;
  let offset = 0;
  let line = 1;
  let text = "";
  let hasMoves = false;
  /** The names of the game's tags. */
  const tags = new Set<string>();
  let isAfterBlank = false;
  let isAfterComment = false;
  let inComment = false;
  /** True for a line that other programs reserve, and after `;`. */
  let isIgnored = false;
  let nextOffset = 0;
  let nextLine = 1;
  /** True if the next part begins a line. */
  let isFresh = true;
  /** The parts from the first tag in a comment on, to be read again if the comment does not end. */
  let held: string[] | undefined;
  let heldCharacters = 0;
  /** True if a blank line stands before one of the tags in the comment. */
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

  /** Reads the parts that were held, as a new game or as the rest of the comment. */
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

  /** Finds moves in the rest of a line, and the beginnings and ends of comments. */
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
    /** The games that end with the text. */
    end(): readonly PgnSource[] {
      const finished = held ? release(true) : [];
      return text.trim() === "" ? finished : [...finished, endGame()];
    },
  };
}

/** Splits a file of any size into games, of which one at a time is in memory. */
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
