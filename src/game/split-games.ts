import type { PgnSource } from "./pgn-error.ts";
import { gameMaxCharacters } from "./read-pgn.ts";

/** A tag pair at the beginning of a line, with its name. */
const tagLine = /^[ \t\ufeff]*\[[ \t]*([A-Za-z0-9][A-Za-z0-9_+#=:-]*)[ \t]*"/;
/** A line without moves. */
const quietLine = /^\s*($|[%;])/;
/** A comment alone on its line. Before the tags, it belongs to their game. */
const commentLine = /^[\s\ufeff]*\{[^}]*\}\s*$/;

/** A carriage return alone ends a line, too, as on old Macs. */
const lineEnds = /(?<=\n|\r(?!\n))/;

/** Most characters of an unfinished line that are kept, to see how the line begins. */
const lineMaxCharacters = 64 * 1024;

/**
 * Splits a file of any size into games. A game ends where a tag pair begins a line after moves: a blank line within the moves, or a
 * comment that does not end, does not end the game. A game without moves ends where a tag of it comes again after a blank line. `readPgn`
 * reads each game, and refuses a game that is too long: only a little more than its maximum is kept of such a game.
 */
export async function* splitGames(chunks: AsyncIterable<string>): AsyncGenerator<PgnSource, void> {
  let game = 1;
  let offset = 0;
  let line = 1;
  let text = "";
  let hasMoves = false;
  /** The names of the game's tags. */
  const tags = new Set<string>();
  let isAfterBlank = false;
  let nextOffset = 0;
  let nextLine = 1;
  /** True if the next part begins a line. */
  let isFresh = true;

  function take(part: string): PgnSource | undefined {
    const tag = isFresh ? tagLine.exec(part)?.[1] : undefined;
    const begins = tag !== undefined && (hasMoves || (isAfterBlank && tags.has(tag)));
    const finished = begins ? end() : undefined;
    if (tag !== undefined) {
      tags.add(tag);
    } else if (isFresh) {
      hasMoves ||= !quietLine.test(part) && !(tags.size === 0 && commentLine.test(part));
    }
    isAfterBlank = isFresh && part.trim() === "";
    if (text.length <= gameMaxCharacters) {
      text += part;
    }
    nextOffset += part.length;
    isFresh = part.endsWith("\n") || part.endsWith("\r");
    nextLine += isFresh ? 1 : 0;
    return finished;
  }

  function end(): PgnSource {
    const source = { text, file: { game, offset, line } };
    game++;
    offset = nextOffset;
    line = nextLine;
    text = "";
    hasMoves = false;
    tags.clear();
    return source;
  }

  let rest = "";
  for await (const chunk of chunks) {
    const parts = `${rest}${chunk}`.split(lineEnds);
    const last = parts.at(-1) ?? "";
    // A carriage return at the end of a chunk may be half of a line end.
    rest = last.endsWith("\n") || last.length > lineMaxCharacters ? "" : last;
    for (const part of rest === "" ? parts : parts.slice(0, -1)) {
      const finished = take(part);
      if (finished) {
        yield finished;
      }
    }
  }
  const finished = take(rest);
  if (finished) {
    yield finished;
  }
  if (text.trim() !== "") {
    yield end();
  }
}
