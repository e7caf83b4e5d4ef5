import { createReadStream, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { linesOfFile } from "../../src/cli/lines-of-file.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";
import { runKibitz } from "./run-kibitz.ts";

const folder = useTemporaryFolder();

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
