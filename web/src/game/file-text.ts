/** The encodings of older chess programs. Any file is valid in them, so that the page can only guess the encoding. */
export const olderEncodings = {
  "windows-1252": "Western Europe (Windows-1252)",
  "windows-1250": "Central Europe (Windows-1250)",
  "windows-1251": "Cyrillic (Windows-1251)",
  "windows-1253": "Greek (Windows-1253)",
  "windows-1254": "Turkish (Windows-1254)",
} as const;

export type OlderEncoding = keyof typeof olderEncodings;

interface FileText {
  readonly text: string;
  /** The guessed encoding. Undefined if the bytes show that the text is UTF-8 or UTF-16. */
  readonly encoding: OlderEncoding | undefined;
}

/** Decodes a file by its byte order mark. Without a byte order mark, a file that is not valid UTF-8 is read as Windows-1252. */
export function textOfFile(bytes: Uint8Array): FileText {
  const marked = markOf(bytes);
  try {
    const decoder = new TextDecoder(marked ?? "utf-8", { fatal: marked === undefined });
    return { text: decoder.decode(bytes), encoding: undefined };
  } catch {
    return { text: new TextDecoder("windows-1252").decode(bytes), encoding: "windows-1252" };
  }
}

function markOf([first, second, third]: Uint8Array): string | undefined {
  if (first === 0xff && second === 0xfe) {
    return "utf-16le";
  }
  if (first === 0xfe && second === 0xff) {
    return "utf-16be";
  }
  return first === 0xef && second === 0xbb && third === 0xbf ? "utf-8" : undefined;
}

/** Returns a function that corrects a text of a file that was decoded with the encoding `from` instead of `to`. */
export function recoding(from: OlderEncoding, to: OlderEncoding): (text: string) => string {
  const [read, meant] = [lettersOf(from), lettersOf(to)];
  return (text) => text.replaceAll(/[^\0-\x7f]/g, (letter) => meant[read.indexOf(letter)] ?? letter);
}

/** Returns the character of each byte. A byte without a character has its character in Windows-1252, so that none is lost. */
function lettersOf(encoding: OlderEncoding): readonly string[] {
  const [own, western] = [new TextDecoder(encoding), new TextDecoder("windows-1252")];
  return Array.from({ length: 256 }, (_, byte) => {
    const bytes = Uint8Array.of(byte);
    return own.decode(bytes).replace("\ufffd", western.decode(bytes));
  });
}
