import { expect, test } from "vitest";
import { recoding, textOfFile } from "../../../web/src/game/file-text.ts";

const bytesOf = (text: string) => Uint8Array.from(text, (letter) => letter.charCodeAt(0));
const utf8 = (text: string) => new TextEncoder().encode(text);
const utf16 = (text: string) => [...text].map((letter) => letter.charCodeAt(0));

test.each([
  ["UTF-8", utf8("Müller – Ďuriš"), "Müller – Ďuriš"],
  ["UTF-8 with a byte order mark", utf8("\ufeffMüller"), "Müller"],
  ["UTF-16, little-endian", utf16("\ufeffMüller").flatMap((code) => [code & 255, code >> 8]), "Müller"],
  ["UTF-16, big-endian", utf16("\ufeffMüller").flatMap((code) => [code >> 8, code & 255]), "Müller"],
  ["ASCII", utf8("1. e4 e5"), "1. e4 e5"],
])("a file in %s is read without a guess", (_, bytes, text) => {
  expect(textOfFile(Uint8Array.from(bytes))).toEqual({ text, encoding: undefined });
});

test("the byte order mark of UTF-8 decides, even if some bytes are invalid", () => {
  const bytes = Uint8Array.of(...utf8("\ufeffé"), 0xe9);
  expect(textOfFile(bytes)).toEqual({ text: "é\ufffd", encoding: undefined });
});

test("a file without a byte order mark that is not valid UTF-8 is read as Windows-1252", () => {
  expect(textOfFile(bytesOf('[White "Müller"]\n[Black "Jørgen"]'))).toEqual({
    text: '[White "Müller"]\n[Black "Jørgen"]',
    encoding: "windows-1252",
  });
});

test.each([
  ["windows-1250", "Ďuriš", [0xcf, 0x75, 0x72, 0x69, 0x9a]],
  ["windows-1251", "Карпов", [0xca, 0xe0, 0xf0, 0xef, 0xee, 0xe2]],
  ["windows-1253", "Κώστας", [0xca, 0xfe, 0xf3, 0xf4, 0xe1, 0xf2]],
  ["windows-1254", "Şahin", [0xde, 0x61, 0x68, 0x69, 0x6e]],
] as const)(
  "a text in %s that was read as Windows-1252 is corrected to %s, and back",
  (encoding, name, bytes) => {
    const { text } = textOfFile(Uint8Array.from(bytes));
    expect(recoding("windows-1252", encoding)(text)).toBe(name);
    expect(recoding(encoding, "windows-1252")(name)).toBe(text);
  },
);

test("no byte is lost in the encodings that have bytes without a character", () => {
  const { text } = textOfFile(Uint8Array.from({ length: 256 }, (_, byte) => byte));
  for (const encoding of ["windows-1250", "windows-1251", "windows-1253", "windows-1254"] as const) {
    const read = recoding("windows-1252", encoding)(text);
    expect(recoding(encoding, "windows-1252")(read)).toBe(text);
  }
});
