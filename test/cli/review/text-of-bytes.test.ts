import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { textOfBytes } from "../../../src/cli/review/text-of-bytes.ts";

/** In two pieces. */
async function textOf(bytes: Buffer, cut: number): Promise<string> {
  const pieces = [bytes.subarray(0, cut), bytes.subarray(cut)];
  return (await Array.fromAsync(textOfBytes(Readable.from(pieces)))).join("");
}

test.each([
  ["UTF-8", "\ufeffé€♞😀e", "utf8"],
  ["Latin-1", "Müller - Fernández", "latin1"],
  ["Latin-1 that ends in a letter", "José é", "latin1"],
] as const)("text in %s is decoded correctly, wherever it is cut", async (_, text, encoding) => {
  const bytes = Buffer.from(text, encoding);
  for (let cut = 1; cut < bytes.length; cut++) {
    expect(await textOf(bytes, cut)).toBe(text);
  }
});

test("characters that Windows adds to Latin-1 are decoded, too", async () => {
  expect(await textOf(Buffer.from([0x80, 0x20, 0x93, 0x61, 0x94]), 2)).toBe("€ “a”");
});
