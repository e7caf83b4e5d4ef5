import { isUtf8 } from "node:buffer";

/** With its mark of the byte order: places in a file count from its first character. */
const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
const windows1252 = new TextDecoder("windows-1252");

/**
 * The text of blocks of bytes, cut anywhere: UTF-8, and a block that is none as Windows-1252, of which Latin-1, the
 * character set of the PGN standard, is a part.
 */
export async function* textOfBytes(blocks: AsyncIterable<Uint8Array | string>): AsyncGenerator<string, void> {
  /** The beginning of a letter. */
  let open: Uint8Array = new Uint8Array();
  for await (const block of blocks) {
    if (typeof block === "string") {
      yield block;
      continue;
    }
    const bytes = open.length > 0 ? Buffer.concat([open, block]) : block;
    const end = bytes.length - unfinishedIn(bytes);
    open = bytes.subarray(end);
    yield decode(bytes.subarray(0, end));
  }
  yield decode(open);
}

function decode(bytes: Uint8Array): string {
  return (isUtf8(bytes) ? utf8 : windows1252).decode(bytes);
}

/** How many bytes at the end begin a letter of UTF-8 that goes on behind them. */
function unfinishedIn(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    const isContinuation = byte >= 0x80 && byte < 0xc0;
    if (!isContinuation) {
      const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
      return length > back ? back : 0;
    }
  }
  return 0;
}
