import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { beforeAll, expect, test } from "vitest";
import { spawnKibitz } from "../../cli/run-kibitz.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";

const folder = useTemporaryFolder();
const mebibyte = 2 ** 20;

async function pack(name: string, bytes: number, piece: string): Promise<string> {
  const file = join(folder, name);
  const block = Buffer.from(piece.repeat(mebibyte / piece.length));
  const blocks = Readable.from(Array.from({ length: bytes / mebibyte }, () => block));
  await pipeline(blocks, createGzip({ level: 1 }), createWriteStream(file));
  return file;
}

/** A heap in which 200 MB have no room. */
const smallHeap = { NODE_OPTIONS: "--max-old-space-size=96" };

let oneLine: string;
beforeAll(async () => {
  oneLine = await pack("one-line.gz", 200 * mebibyte, "8");
});

test.each([
  [
    "kibitz eval --file",
    ["eval", "--file"],
    /^kibitz: cannot read .*: line 1 is longer than 65536 characters$/m,
  ],
  [
    "kibitz keys import",
    ["keys", "import"],
    /^kibitz: .* cannot be read: line 1 is longer than 65536 characters$/m,
  ],
  ["kibitz review", ["review"], /^kibitz: /m],
])(
  "%s refuses a gzip file with one line of 200 MB without holding the line in memory",
  async (_, args, message) => {
    const { code, stderr } = await spawnKibitz([...args, oneLine], smallHeap);
    expect(stderr).toMatch(message);
    expect(code).toBe(2);
  },
);
