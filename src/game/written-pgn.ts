/** Escapes of JSON and of programming languages. In a PGN, a backslash belongs only to texts of tags and comments. */
const escapes = /\\r\\n|\\[nrt]|\\"(?=\s*\])|\\"/g;

/** Quotation marks or a code fence of Markdown around the whole text. */
const opening = /^\s*(?:```\w*(?=\s)|["'`“„«])(?=\s*(?:\[|\{|\d|[a-hKQRBNO]))/;
const closing = /(?:```|["'`”“»])\s*$/;

/**
 * Undoes the escapes of a PGN that was escaped twice, and removes quotation marks around the whole PGN. Returns undefined if
 * the text has neither. The result has the same length, so that all offsets stay the same.
 */
export function withoutEscapes(text: string): string | undefined {
  const wrapped = opening.test(text) && closing.test(text);
  const bare = wrapped ? text.replace(opening, blanksFor).replace(closing, blanksFor) : text;
  const plain = bare.replaceAll(escapes, (written, at: number) => {
    if (written.endsWith('"')) {
      return /^\s*\]/.test(bare.slice(at + 2, at + 10)) ? '" ' : ' "';
    }
    return (written === "\\t" ? "" : "\n").padStart(written.length);
  });
  return plain === text ? undefined : plain;
}

/** Decodes a percent-encoded PGN, such as `1.%20e4%20e5`. Returns undefined if the text is not percent-encoded. */
export function decodedPgn(text: string): string | undefined {
  if (/\s/.test(text.trim()) || !/%(?:20|0A)/i.test(text)) {
    return undefined;
  }
  try {
    return decodeURIComponent(text.trim());
  } catch {
    return undefined;
  }
}

/** True for a FEN, which people send as PGN by mistake. */
export function isFen(text: string): boolean {
  return /^\s*(?:[1-8kqrbnp]{1,8}\/){7}[1-8kqrbnp]{1,8}(?:\s|$)/i.test(text);
}

function blanksFor(text: string): string {
  return text.replaceAll(/[^\n\r]/g, " ");
}
