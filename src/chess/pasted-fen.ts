import type { SuggestedPosition } from "./position.ts";
import { maxFenCharacters } from "./read-fen.ts";
import { plainDashes } from "./written-move.ts";

/** The longest text, in characters, in which Kibitz looks for a FEN. The moves of a game may follow the FEN. */
const pastedMaxCharacters = 4000;

/** Characters that are often pasted with a FEN, also Markdown, and full stops or commas behind it. */
const mark = "\\s\"'`“”„‟«»‹›‘’‚*{}()<>[\\]\\\\.,";
const withoutMarks = new RegExp(`[^${mark}](?:[\\s\\S]*[^${mark}])?`);
/** Matches words before a FEN: `position fen`, `FEN:`, `"fen":`, and the tag `[FEN "`, also after a tag SetUp. */
const before = new RegExp(
  `^(?:setup\\b[^\\]]{0,9}\\][\\s[]*)?(?:(?:position[\\s:]*)?(?:fen|epd)\\b|position\\b|setboard\\b)[${mark}:=]*`,
  "i",
);
/** Matches an address that names moves, which lead to another position, or a variant with other rules. */
const otherPosition = /[?&](?:move\w*|pgn|play)=./i;
const otherRules =
  /[?&]variant=(?!(?:standard|fromPosition)?(?:&|$))|\/variants?\/|atomic|antichess|crazyhouse|horde|king.?of.?the.?hill|racing.?kings|three.?check|chess.?960/i;
const plainFen = /^(?:[1-8kqrbnp]{1,8}\/){7}[1-8kqrbnp]{1,8}(?: [\w-]+){0,5}$/i;

/**
 * Finds the FEN, and the moves behind it, in a text like `position fen …`, `[FEN "…"]`, or the address of a page with a position.
 *
 * @param moves the moves of the request. If the text has moves too, nothing is found, because both may not be of one game
 * @returns undefined if the text is only a FEN with a few blanks, or does not certainly contain one
 */
export function readPastedFen(
  text: string,
  moves: readonly string[],
): (SuggestedPosition & { readonly fen: string }) | undefined {
  const bare = text.length > pastedMaxCharacters ? "" : alone(text);
  const [written = "", behind, ...more] = plainDashes(fenOfAddress(bare) ?? bare)
    .replaceAll(/\s/.test(bare) ? "%20" : /\+|%20/g, " ")
    .replaceAll(/(?:[\s_\u200b\ufeff]|&nbsp;)+/g, " ")
    .replaceAll("\\/", "/")
    .trim()
    .split(/ moves(?: |$)/);
  const fen = written.toLowerCase() === "startpos" ? "startpos" : written;
  const isFen = fen === "startpos" || (plainFen.test(fen) && fen.length <= maxFenCharacters);
  const isCertain = more.length === 0 && (!behind || moves.length === 0);
  const isAlone = text.length <= maxFenCharacters && text.trim().replaceAll(/ +/g, " ") === fen;
  if (!isFen || !isCertain || isAlone) {
    return undefined;
  }
  return behind ? { fen, moves: behind.split(" ") } : { fen };
}

function alone(text: string): string {
  let left = text;
  // Words and marks may alternate a few times: **FEN:** `…`.
  for (let round = 0; round < 4; round++) {
    left = (withoutMarks.exec(left)?.[0] ?? "").replace(before, "");
  }
  return left;
}

/** Returns undefined if the text is not the address of a web page that shows a position of standard chess. */
function fenOfAddress(text: string): string | undefined {
  const [, path = "", query = ""] =
    /^(?:https?:\/\/)?(?:[\w-]+\.)+[a-z]{2,6}(\/[^\s?#]*)(\?[^\s#]*)?(?:#\S*)?$/i.exec(text) ?? [];
  const inPath = /^\/(?:analysis|editor)\/(?:standard\/|fromPosition\/)?(.*)$/i.exec(path)?.[1];
  const found = /[?&]fen=([^&]*)/i.exec(query)?.[1] ?? inPath;
  if (found === undefined || otherPosition.test(query) || otherRules.test(path + query)) {
    return undefined;
  }
  try {
    return decodeURIComponent(found);
  } catch {
    return undefined;
  }
}
