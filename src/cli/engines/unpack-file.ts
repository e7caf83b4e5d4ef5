import { createReadStream, createWriteStream } from "node:fs";
import { open } from "node:fs/promises";
import { basename } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { echo } from "../../text/echo.ts";

/**
 * Writes the only regular file with the name `member` in a tar archive, which may be compressed with gzip, to `target`, and waits
 * until the disk has the file. If `member` is undefined, the archive may have any executable file whose name begins with
 * `stockfish`, and `archive` may also be the executable itself.
 */
export async function unpackFile(
  archive: string,
  member: string | undefined,
  target: string,
  signal: AbortSignal,
  maxBytes = 600e6,
): Promise<void> {
  const kind = await kindOf(archive);
  if (kind === "zip") {
    throw new Error(
      "it is a zip archive, which official builds use only for Windows; unpack it, and give the file of the engine",
    );
  }
  if (kind === "other" && member !== undefined) {
    throw new Error("it is not an archive");
  }
  const bounded = (parts: AsyncIterable<Buffer>) => atMost(maxBytes, parts);
  const taken = (parts: AsyncIterable<Buffer>) => takeFrom(parts, member);
  const steps = { gzip: [createGunzip(), bounded, taken], tar: [taken], other: [] }[kind];
  const output = createWriteStream(target, { flags: "wx", mode: 0o755, flush: true });
  await pipeline([createReadStream(archive), ...steps, output], { signal });
}

async function kindOf(archive: string): Promise<"gzip" | "tar" | "zip" | "other"> {
  await using file = await open(archive);
  const { buffer } = await file.read(Buffer.alloc(blockBytes), 0, blockBytes, 0);
  if (buffer.readUInt16BE() === 0x1f8b) {
    return "gzip";
  }
  if (buffer.toString("latin1", 0, 4) === "PK\x03\x04") {
    return "zip";
  }
  return isHeader(buffer) ? "tar" : "other";
}

async function* atMost(maxBytes: number, parts: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  let bytes = 0;
  for await (const part of parts) {
    bytes += part.length;
    if (bytes > maxBytes) {
      throw new Error(`it has more than ${maxBytes / 1e6} MB when it is unpacked`);
    }
    yield part;
  }
}

/** Tar stores a header of one block for each file, and fills the last block of a file. */
const blockBytes = 512;

interface Entry {
  readonly name: string;
  readonly isRegular: boolean;
  readonly isExecutable: boolean;
  readonly size: number;
}

async function* takeFrom(parts: AsyncIterable<Buffer>, member: string | undefined): AsyncIterable<Buffer> {
  const isWanted = ({ name, isRegular, isExecutable }: Entry) =>
    isRegular && (member === undefined ? isExecutable && /^stockfish/.test(basename(name)) : name === member);
  const names: string[] = [];
  let isFirst = true;
  let header = Buffer.alloc(0);
  let taking = false;
  let leftBytes = 0;
  let paddingBytes = 0;
  for await (const part of parts) {
    let at = 0;
    while (at < part.length) {
      if (leftBytes > 0) {
        const data = part.subarray(at, at + leftBytes);
        if (taking) {
          yield data;
        }
        leftBytes -= data.length;
        at += data.length;
      } else if (paddingBytes > 0) {
        const skipped = Math.min(paddingBytes, part.length - at);
        paddingBytes -= skipped;
        at += skipped;
      } else {
        const missing = part.subarray(at, at + blockBytes - header.length);
        header = Buffer.concat([header, missing]);
        at += missing.length;
        if (header.length === blockBytes) {
          if (isFirst && !isHeader(header)) {
            throw new Error("it contains no tar archive");
          }
          isFirst = false;
          const entry = entryOf(header);
          header = Buffer.alloc(0);
          taking = entry !== undefined && isWanted(entry);
          leftBytes = entry?.size ?? 0;
          paddingBytes = -leftBytes & (blockBytes - 1);
          if (taking && names.push(entry?.name ?? "") > 1) {
            break;
          }
        }
      }
    }
    if (names.length > 1) {
      break;
    }
  }
  const wanted = member ?? "an executable file whose name begins with stockfish";
  if (names.length !== 1) {
    throw new Error(
      names.length === 0
        ? `the archive does not contain ${wanted}; unpack it, and give the file of the engine`
        : `the archive contains ${wanted} more than once: ${names.map((name) => echo(name)).join(", ")}; unpack it, and give the file of the engine`,
    );
  }
  if (leftBytes > 0 || header.length > 0) {
    throw new Error("the archive ends too early");
  }
}

/** Returns undefined for an empty block, which is at the end of an archive. Other extensions of the format are not needed. */
function entryOf(header: Buffer): Entry | undefined {
  if (header.every((byte) => byte === 0)) {
    return undefined;
  }
  if (!isHeader(header)) {
    throw new Error("the archive is damaged");
  }
  const textAt = (from: number, to: number) => header.toString("utf8", from, to).split("\0")[0] ?? "";
  const prefix = textAt(345, 500);
  const name = `${prefix === "" ? "" : `${prefix}/`}${textAt(0, 100)}`;
  return {
    name: name.replace(/^\.\//, ""),
    // Older programs write a folder as a regular file whose name ends with a slash.
    isRegular: ["", "0"].includes(textAt(156, 157)) && !name.endsWith("/"),
    isExecutable: (octalAt(header, 100, 108) & 0o111) !== 0,
    size: octalAt(header, 124, 136),
  };
}

/** Checks the sum of all bytes, in which the field of the sum itself counts as spaces. */
function isHeader(block: Buffer): boolean {
  const fieldBytes = block.subarray(148, 156).reduce((sum, byte) => sum + byte, 0);
  const sum = block.reduce((total, byte) => total + byte, 0) - fieldBytes + 8 * 32;
  return block.length === blockBytes && octalAt(block, 148, 156) === sum;
}

/** Returns NaN for a number that is not octal, such as the size of a file of 8 GiB. */
function octalAt(block: Buffer, from: number, to: number): number {
  const text = (block.toString("latin1", from, to).split("\0")[0] ?? "").trim();
  return /^[0-7]+$/.test(text) ? Number.parseInt(text, 8) : Number.NaN;
}
