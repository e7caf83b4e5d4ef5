import { isUtf8 } from "node:buffer";

/** Keeps the byte order mark: places in a file count from its first character. */
const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
const windows1252 = new TextDecoder("windows-1252");

/**
 * Decodes blocks of bytes, which may be cut anywhere, as UTF-8. A block that is not UTF-8 is decoded as Windows-1252, which includes Latin-1,
 * the character set of the PGN standard.
 */
export async function* textOfBytes(blocks: AsyncIterable<Uint8Array | string>): AsyncGenerator<string, void> {
  /** The first bytes of a character that the next block completes. */
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

/** The number of bytes at the end that begin an incomplete character of UTF-8. */
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
