import type { SuggestedPosition } from "./position.ts";
import { maxFenCharacters } from "./read-fen.ts";
import { plainDashes } from "./written-move.ts";

const pastedMaxCharacters = 4000;

/** Characters that are often copied together with a FEN. */
const mark = "\\s\"'`“”„‟«»‹›‘’‚*{}()<>[\\]\\\\.,";
const withoutMarks = new RegExp(`[^${mark}](?:[\\s\\S]*[^${mark}])?`);
/** Matches the words that some programs write before a FEN: `position fen`, `FEN:`, `"fen":`, or `[SetUp "1"] [FEN "`. */
const before = new RegExp(
  `^(?:setup\\b[^\\]]{0,9}\\][\\s[]*)?(?:(?:position[\\s:]*)?(?:fen|epd)\\b|position\\b|setboard\\b)[${mark}:=]*`,
  "i",
);
/** Matches a web address with moves. The web page shows the board after the moves, and not the board of the FEN. */
const otherPosition = /[?&](?:move\w*|pgn|play)=./i;
/** Matches a web address of a page about a chess variant. */
const otherRules =
  /[?&]variant=(?!(?:standard|fromPosition)?(?:&|$))|\/variants?\/|atomic|antichess|crazyhouse|horde|king.?of.?the.?hill|racing.?kings|three.?check|chess.?960/i;
const percentEncoded = /^[1-8kqrbnp]{1,8}(?:%2F|\/)[\w%/-]*$/i;
const plainFen = /^(?:[1-8kqrbnp]{1,8}\/){7}[1-8kqrbnp]{1,8}(?: [\w-]+){0,5}$/i;

/**
 * Finds the FEN, and the moves after the FEN, in a text such as `position fen …` or in a web address.
 * Returns undefined if the text is already a FEN, if the FEN is uncertain, or if both the request and the text have moves.
 */
export function readPastedFen(
  text: string,
  moves: readonly string[],
): (SuggestedPosition & { readonly fen: string }) | undefined {
  const bare = text.length > pastedMaxCharacters ? "" : decoded(alone(text));
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

/** Decodes a percent-encoded FEN, as clients of APIs with GET requests send it. */
function decoded(text: string): string {
  return percentEncoded.test(text) ? text.replaceAll(/%20/g, " ").replaceAll(/%2f/gi, "/") : text;
}

function alone(text: string): string {
  let left = text;
  // Words and marks may alternate several times, as in **FEN:** `…`.
  for (let round = 0; round < 4; round++) {
    left = (withoutMarks.exec(left)?.[0] ?? "").replace(before, "");
  }
  return left;
}

/** Returns undefined if the text is not a web address, or if the page does not show a position of standard chess. */
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
