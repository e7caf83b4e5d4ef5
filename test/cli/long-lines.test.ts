import { createReadStream, createWriteStream, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip, gzipSync } from "node:zlib";
import { beforeAll, expect, test } from "vitest";
import { linesOfFile } from "../../src/cli/lines-of-file.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";
import { runKibitz, spawnKibitz } from "./run-kibitz.ts";

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

test("a file that is packed four times is refused", async () => {
  const file = join(folder, "packed.gz");
  let bytes = Buffer.from("startpos\n");
  for (let times = 0; times < 4; times++) {
    bytes = gzipSync(bytes);
  }
  writeFileSync(file, bytes);
  const { code, stderr } = await runKibitz(["eval", "--file", file]);
  expect(stderr).toContain("it is packed more than 3 times");
  expect(code).toBe(2);
});

test.each([
  ["a\nb\r\nc\rd", ["a", "b", "c", "d"]],
  ["a\r\n\r\nb\n", ["a", "", "b", ""]],
  ["", [""]],
])("the lines of %j are read, however the text is cut into blocks", async (text, lines) => {
  for (let cut = 0; cut <= text.length; cut++) {
    const stdin = Readable.from([text.slice(0, cut), text.slice(cut)].map((part) => Buffer.from(part)));
    expect(await Array.fromAsync(linesOfFile("-", stdin)), `cut at ${cut}`).toEqual(lines);
  }
});

test("the longest allowed line of a file is read, and a longer line is refused with its number", async () => {
  const file = join(folder, "lines.txt");
  const longest = "x".repeat(65_536);
  writeFileSync(file, `${longest}\r\n${longest}`);
  expect(await Array.fromAsync(linesOfFile(file, createReadStream(file)))).toEqual([longest, longest]);
  writeFileSync(file, `a\n${longest}y\nb`);
  await expect(Array.fromAsync(linesOfFile(file, createReadStream(file)))).rejects.toThrow(
    "line 2 is longer",
  );
});
