import { Readable } from "node:stream";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { expect, test } from "vitest";
import { textOfBytes } from "../../src/cli/text-of-bytes.ts";

async function textOf(bytes: Buffer, cut: number): Promise<string> {
  const pieces = [bytes.subarray(0, cut), bytes.subarray(cut)];
  return (await Array.fromAsync(textOfBytes(Readable.from(pieces)))).join("");
}

test.each([
  ["UTF-8", "\ufeffé€♞😀e", "utf8"],
  ["Latin-1", "Müller - Fernández", "latin1"],
  ["UTF-16", "\ufeffé€♞😀e\r\n", "utf16le"],
  ["Latin-1 with a final letter outside ASCII", "José é", "latin1"],
] as const)("text in %s is decoded correctly from chunks of any size", async (_, text, encoding) => {
  const bytes = Buffer.from(text, encoding);
  for (let cut = 1; cut < bytes.length; cut++) {
    expect(await textOf(bytes, cut)).toBe(text);
  }
});

test("text in the encoding Windows-1252 is decoded", async () => {
  expect(await textOf(Buffer.from([0x80, 0x20, 0x93, 0x61, 0x94]), 2)).toBe("€ “a”");
});

const utf16be = Buffer.from("\ufeffé♞\n", "utf16le").swap16();
const latin1 = Buffer.from("Müller\r\n", "latin1");
const joined = Buffer.concat([latin1, Buffer.from("José 😀\n"), latin1, Buffer.from("é")]);

test.each([
  ["UTF-16 with the high byte first", utf16be, "\ufeffé♞\n"],
  ["lines in two encodings", joined, "Müller\r\nJosé 😀\nMüller\r\né"],
  ["gzip", gzipSync("é1"), "é1"],
  ["two members of gzip", Buffer.concat([gzipSync("é"), gzipSync("1")]), "é1"],
  ["zstd", zstdCompressSync("é1"), "é1"],
  ["UTF-16 in gzip", gzipSync(utf16be), "\ufeffé♞\n"],
])("a file of %s is decoded correctly from chunks of any size", async (_, bytes, text) => {
  for (let cut = 1; cut < bytes.length; cut++) {
    expect(await textOf(bytes, cut)).toBe(text);
  }
});

test("frames without data in a zstd file are skipped", async () => {
  const frame = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 1, 2]);
  expect(await textOf(Buffer.concat([frame, zstdCompressSync("a"), frame]), 3)).toBe("a");
});

test.each([
  ["504b0304140000000800", "this is a zip archive; unpack it first"],
  ["504b0506000000000000", "this is a zip archive; unpack it first"],
  ["377abcaf271c00040000", "this is a 7z archive; unpack it first"],
  ["526172211a070100f3e1", "this is a rar archive; unpack it first"],
  ["fd377a585a000004e6d6", "this is an xz file; unpack it first"],
  ["425a6839314159265359", "this is a bzip2 file; unpack it first"],
  [gzipSync("a".repeat(100)).subarray(0, 20).toString("hex"), "its packed data is damaged"],
  [zstdCompressSync("a".repeat(100)).subarray(0, 12).toString("hex"), "its packed data is damaged"],
])("a file that begins with the bytes %s is refused with a reason", async (bytes, reason) => {
  await expect(textOf(Buffer.from(bytes, "hex"), 1)).rejects.toThrow(reason);
});
