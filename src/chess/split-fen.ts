/** The longest FEN that is read, in characters; the longest that means something has about 90. */
export const maxFenCharacters = 128;

export type FenSplit = { kind: "fields"; fields: readonly string[] } | { kind: "problem"; problem: string };

/** Splits a FEN into its one to six fields. After a problem found here, nothing else about the text is worth saying. */
export function splitFen(text: string): FenSplit {
  if (text.length > maxFenCharacters) {
    return problem(`The FEN has ${text.length} characters; the maximum is ${maxFenCharacters}.`);
  }
  // String.trim() and \s also take Unicode blanks, and a line break between fields is two lines to an engine.
  const fen = text.replace(/^[ \t\n\v\f\r]+|[ \t\n\v\f\r]+$/g, "");
  if (fen === "") {
    return problem("The FEN is empty.");
  }
  const stranger = /[^ -~]/u.exec(fen)?.[0].codePointAt(0);
  if (stranger !== undefined) {
    const name = `U+${stranger.toString(16).toUpperCase().padStart(4, "0")}`;
    return problem(`The FEN contains ${name}; it must be plain ASCII, its fields separated by spaces.`);
  }

  const fields = fen.split(/ +/);
  if (fields.includes("moves")) {
    return problem("The FEN is followed by moves; send them in the field `moves`.");
  }
  if (fields.some((field) => field.endsWith(";"))) {
    return problem("The FEN is followed by EPD operations; send only its first four fields.");
  }
  if (fields.length > 6) {
    return problem(`The FEN has ${fields.length} fields; a FEN has at most 6.`);
  }
  return { kind: "fields", fields };
}

function problem(sentence: string): FenSplit {
  return { kind: "problem", problem: sentence };
}
