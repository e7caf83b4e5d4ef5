import { expect, test } from "vitest";
import { kindOfText } from "../../web/src/kind-of-text.ts";

test.each([
  ["8/8/8/8/8/8/8/8 w - - 0 1", "fen"],
  ["  startpos\n", "fen"],
  ["rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP", "fen"],
  ["rnbqkbnr/ppppxppp/8/9/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "fen"],
  ["1. e4 e5 2. Nf3", "pgn"],
  ["1.Nf3", "pgn"],
  ["1. Sf3 Sf6", "pgn"],
  ["12... O-O", "pgn"],
  ["♘f3 d5", "pgn"],
  ["g1f3 d7d5", "pgn"],
  ['[FEN "8/8/8/8/8/8/8/8 w - - 0 1"]\n\n*', "pgn"],
  ["8/8/8/8/8/8/8/8 w - - 0 1\n8/8/8/8/8/8/8/8 b - - 0 1", undefined],
  ["{A long remark} e4 (d4) e5 *", "pgn"],
  [" \n", undefined],
  ["1-0", undefined],
  ["1. Buy milk\n2. Buy bread", undefined],
  ["https://example.com/a4/b5/c6/d7", undefined],
  ["Meet me at e4, please; version 2.0", undefined],
  ["-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC", undefined],
  ["kbz_0123456789abcdef", "key"],
  ["  Bearer kbz_0123456789abcdef\n", "key"],
  ["1. e4 e5 {kbz_0123456789abcdef}", undefined],
  ["KIBITZ_API_KEY=kbz_0123456789abcdef", undefined],
] as const)("the pasted text %j is recognised as %s", (text, kind) => {
  expect(kindOfText(text)).toBe(kind);
});
