import { blank, quotes, spacedResult, tagOpening, word } from "./pgn-patterns.ts";
import { readWord, resultOf, type WordToken, whyNoWord } from "./read-word.ts";

/** A token of a PGN. The offset is in UTF-16 code units from the beginning of the text. */
export type Token = { readonly offset: number } & (
  | (WordToken & { readonly text: string })
  | { readonly kind: "tag"; readonly name: string; readonly value: string }
  /** The text between the braces. One space at each end is removed. */
  | { readonly kind: "comment"; readonly comment: string }
  | { readonly kind: "open" | "close" }
  /** Text that is not a token. The error message is `text`, followed by the reason `why`. */
  | { readonly kind: "unexpected"; readonly text: string; readonly why: string }
);

const blanks = new RegExp(`${blank}+`, "y");
const nextWord = new RegExp(word, "y");
const nextSpacedResult = new RegExp(spacedResult, "y");
const tagName = new RegExp(tagOpening, "y");
const tagEnd = new RegExp(`[\\n\\r]|[${quotes}][ \\t]*\\]`, "g");

/** In files of old Macs, a single carriage return ends a line. */
const lineBreak = /[\n\r]/g;

const tagMaxCharacters = 4096;

/** Creates a scanner for PGN. Skips white space, and lines that begin with `%`, which are reserved for other programs. */
export function createScanner(text: string): { read(): readonly Token[] | undefined } {
  let at = 0;
  /** True if the text before `at` on this line has only white space or tags. */
  let atLineStart = true;

  function skipBlanks(): void {
    blanks.lastIndex = at;
    const [skipped = ""] = blanks.exec(text) ?? [];
    at += skipped.length;
    atLineStart ||= /[\n\r]/.test(skipped);
  }

  function readTag(): Token {
    const offset = at;
    tagName.lastIndex = at;
    const [opening, name] = tagName.exec(text) ?? [];
    if (opening === undefined || name === undefined) {
      at = endOfTagLine(offset);
      return unexpectedWord(offset, wordAt(text, offset));
    }
    const start = offset + opening.length;
    tagEnd.lastIndex = start;
    // A quotation mark that does not end the tag is a part of the value, even without an escape character.
    let written: string | undefined;
    for (let end = tagEnd.exec(text); end !== null; end = tagEnd.exec(text)) {
      const [mark] = end;
      if (mark === "\n" || mark === "\r" || tagEnd.lastIndex > offset + tagMaxCharacters) {
        break;
      }
      written = text.slice(start, end.index);
      at = tagEnd.lastIndex;
      if (!isEscaped(written, written.length) && (!opening.endsWith('"') || mark.startsWith('"'))) {
        break;
      }
    }
    if (written !== undefined) {
      return { kind: "tag", offset, name, value: tagValue(written) };
    }
    at = endOfTagLine(offset);
    return {
      kind: "unexpected",
      offset,
      text: `[${name}`,
      why: `begins a tag pair that does not end on its line, or is longer than ${tagMaxCharacters} characters`,
    };
  }

  /** Returns the end of the line, but at most {@link tagMaxCharacters} after `offset`. */
  function endOfTagLine(offset: number): number {
    return offset + endOfLine(text.slice(offset, offset + tagMaxCharacters), 0);
  }

  function readComment(): Token {
    const offset = at;
    const end = text.indexOf("}", offset);
    if (end === -1) {
      at = text.length;
      return { kind: "unexpected", offset, text: "{", why: "begins a comment that does not end" };
    }
    at = end + 1;
    const comment = text
      .slice(offset + 1, end)
      .replaceAll("\r\n", "\n")
      .replace(/^ | $/g, "");
    return { kind: "comment", offset, comment };
  }

  /** Reads a comment that ends at the end of the line. Replaces `}` by `)`, because a comment in braces cannot contain `}`. */
  function readLineComment(): Token {
    const offset = at;
    at = endOfLine(text, offset);
    const comment = text.slice(offset + 1, at).trim();
    return { kind: "comment", offset, comment: comment.replaceAll("}", ")") };
  }

  /** Returns an empty list for a word that the scanner ignores, such as `e.p.`. */
  function readTokens(): readonly Token[] {
    const offset = at;
    nextSpacedResult.lastIndex = at;
    const spaced = nextSpacedResult.exec(text)?.[0];
    const joined = spaced?.replaceAll(/\s/g, "");
    if (spaced !== undefined && joined !== undefined && (/^0.0$/u.test(joined) || resultOf(joined))) {
      at += spaced.length;
      return (readWord(joined) ?? []).map((token) => ({ ...token, offset, text: joined }));
    }
    const written = wordAt(text, offset);
    at += written.length;
    const tokens = readWord(written);
    return (
      tokens?.map((token) => ({ ...token, offset: offset + token.at, text: written.slice(token.at) })) ?? [
        unexpectedWord(offset, written),
      ]
    );
  }

  /** Returns the next tokens. Returns an empty list for a skipped line, and undefined at the end of the text. */
  function read(): readonly Token[] | undefined {
    skipBlanks();
    if (text[at] === "%" && /[\n\r\ufeff]/.test(text[at - 1] ?? "\n")) {
      at = endOfLine(text, at);
      return [];
    }
    const isTag = atLineStart && text[at] === "[" && text[at + 1] !== "%";
    atLineStart = isTag;
    const offset = at;
    if (isTag) {
      return [readTag()];
    }
    switch (text[at]) {
      case undefined:
        return undefined;
      case "{":
        return [readComment()];
      case ";":
        return [readLineComment()];
      case "(":
        at++;
        return [{ kind: "open", offset }];
      case ")":
        at++;
        return [{ kind: "close", offset }];
      case "}":
        at++;
        return [{ kind: "unexpected", offset, text: "}", why: "ends a comment that has not begun" }];
      default:
        return readTokens();
    }
  }

  return { read };
}

function unexpectedWord(offset: number, text: string): Token {
  return { kind: "unexpected", offset, text, why: whyNoWord(text) };
}

function wordAt(text: string, at: number): string {
  nextWord.lastIndex = at;
  return nextWord.exec(text)?.[0] ?? "";
}

function endOfLine(text: string, from: number): number {
  lineBreak.lastIndex = from;
  return lineBreak.exec(text)?.index ?? text.length;
}

/** Removes escape characters, also a backslash before the closing quotation mark, which some programs write by mistake. */
function tagValue(written: string): string {
  const last = isEscaped(written, written.length) && written.includes('\\"') ? -1 : undefined;
  return written.slice(0, last).replaceAll(/\\(["\\])/g, "$1");
}

function isEscaped(text: string, quote: number): boolean {
  let escapes = quote;
  while (escapes > 0 && text[escapes - 1] === "\\") {
    escapes--;
  }
  return (quote - escapes) % 2 === 1;
}
