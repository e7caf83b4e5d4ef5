import { createReadStream } from "node:fs";
import type { Readable } from "node:stream";
import { textOfBytes } from "./text-of-bytes.ts";

/** The longest line in characters. A line of EPD with its operations has a few hundred characters. */
const lineMaxLength = 64 * 1024;

/**
 * Reads the lines of a file, or of standard input if `file` is `-`. Holds at most one line in memory.
 * Throws Error if the file cannot be opened or unpacked, or if a line is too long.
 */
export async function* linesOfFile(file: string, stdin: Readable): AsyncGenerator<string, void> {
  let number = 0;
  const checked = (line: string) => {
    number++;
    if (line.length > lineMaxLength) {
      throw new Error(`line ${number} is longer than ${lineMaxLength} characters`);
    }
    return line;
  };
  let rest = "";
  for await (const piece of textOfBytes(file === "-" ? stdin : createReadStream(file))) {
    // Without the next piece, a line feed may follow a carriage return at the end.
    const [, text = "", held = ""] = /^(.*?)(\r?)$/s.exec(rest + piece) ?? [];
    const lines = text.split(/\r\n?|\n/);
    rest = (lines.pop() ?? "") + held;
    for (const line of lines) {
      yield checked(line);
    }
    if (rest.length > lineMaxLength + 1) {
      checked(rest);
    }
  }
  for (const line of rest.split("\r")) {
    yield checked(line);
  }
}
