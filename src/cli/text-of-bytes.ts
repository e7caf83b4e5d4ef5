import { isUtf8 } from "node:buffer";
import { pipeline, Readable } from "node:stream";
import { createGunzip, createZstdDecompress } from "node:zlib";

/** Keeps the byte order mark, so that the columns in error messages are correct. */
const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
const windows1252 = new TextDecoder("windows-1252");

/** The first bytes of compressed and archive formats, in hexadecimal. */
const formats = [
  [/^1f8b/, createGunzip],
  [/^(?:28b52ffd|5.2a4d18)/, createZstdDecompress],
  [/^504b(?:0304|0506|0708)/, "a zip archive"],
  [/^377abcaf271c/, "a 7z archive"],
  [/^526172211a07/, "a rar archive"],
  [/^fd377a585a00/, "an xz file"],
  [/^425a683[1-9]314159265359/, "a bzip2 file"],
] as const;

const headBytes = 10;

/** A file can be packed so that its content is the file again. */
const packedTimesMax = 3;

/** A longer line is decoded in several pieces. */
const lineMaxBytes = 64 * 1024;

/**
 * Decompresses gzip and zstd. Decodes UTF-8, and UTF-16 with a byte order mark. Decodes a line that is not valid UTF-8 as
 * Windows-1252, which contains the character set of PGN. Throws Error for other compressed formats and damaged data.
 */
export async function* textOfBytes(
  blocks: AsyncIterable<Uint8Array | string>,
  packedMax = packedTimesMax,
): AsyncGenerator<string, void> {
  const { head, all } = await readHead(bytesOf(blocks));
  const [, format] = formats.find(([beginning]) => beginning.test(head)) ?? [];
  if (typeof format === "string") {
    throw new Error(`this is ${format}; unpack it first`);
  }
  if (format !== undefined) {
    if (packedMax === 0) {
      throw new Error(`it is packed more than ${packedTimesMax} times`);
    }
    yield* textOfBytes(unpacked(all, format()), packedMax - 1);
  } else if (/^(?:fffe|feff)/.test(head)) {
    const utf16 = new TextDecoder(head.startsWith("ff") ? "utf-16le" : "utf-16be", { ignoreBOM: true });
    for await (const bytes of all) {
      yield utf16.decode(bytes, { stream: true });
    }
    yield utf16.decode();
  } else {
    yield* textOfLines(all);
  }
}

async function* bytesOf(blocks: AsyncIterable<Uint8Array | string>): AsyncGenerator<Buffer, void> {
  for await (const block of blocks) {
    yield Buffer.from(block as Uint8Array);
  }
}

/** `head` contains the first bytes in hexadecimal. `all` yields every block, including the first. */
async function readHead(blocks: AsyncGenerator<Buffer, void>) {
  let first = Buffer.alloc(0);
  while (first.length < headBytes) {
    const { value, done } = await blocks.next();
    if (done) {
      break;
    }
    first = Buffer.concat([first, value]);
  }
  async function* all(): AsyncGenerator<Buffer, void> {
    yield first;
    yield* blocks;
  }
  return { head: first.toString("hex", 0, headBytes), all: all() };
}

async function* unpacked(
  blocks: AsyncIterable<Buffer>,
  unpacker: ReturnType<typeof createGunzip>,
): AsyncGenerator<Buffer, void> {
  // Ignore the error here, because the loop over the unpacker throws the same error.
  pipeline(Readable.from(blocks), unpacker, () => {});
  try {
    yield* unpacker;
  } catch (thrown) {
    const { code = "", message } = thrown as NodeJS.ErrnoException;
    throw /^Z/.test(code) ? new Error(`its packed data is damaged: ${message}`) : thrown;
  }
}

async function* textOfLines(blocks: AsyncIterable<Buffer>): AsyncGenerator<string, void> {
  let open = Buffer.alloc(0);
  for await (const block of blocks) {
    const bytes = Buffer.concat([open, block]);
    const lines = 1 + Math.max(bytes.lastIndexOf("\n"), bytes.lastIndexOf("\r"));
    const end = bytes.length - lines > lineMaxBytes ? bytes.length - unfinishedIn(bytes) : lines;
    open = bytes.subarray(end);
    yield decodeLines(bytes.subarray(0, end));
  }
  yield decodeLines(open);
}

function decodeLines(bytes: Buffer): string {
  if (isUtf8(bytes)) {
    return utf8.decode(bytes);
  }
  const lines: string[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf("\n", start) + 1 || bytes.length;
    const line = bytes.subarray(start, end);
    lines.push((isUtf8(line) ? utf8 : windows1252).decode(line));
    start = end;
  }
  return lines.join("");
}

/** Returns the number of bytes after the last complete UTF-8 character. */
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
