import { expect, test } from "vitest";
import { numbered } from "../../src/text/numbered-moves.ts";

test.each([
  ["8/8/8/8/8/8/8/8 w - - 0 12", ["Nf3", "Nc6", "d4"], "12. Nf3 Nc6 13. d4"],
  ["8/8/8/8/8/8/8/8 b - - 0 12", ["Nc6", "d4", "d5"], "12... Nc6 13. d4 d5"],
  ["8/8/8/8/8/8/8/8 b - - 0 12", [], ""],
])("the moves after the FEN %s get the correct move numbers", (fen, sans, line) => {
  expect(numbered(fen, sans)).toBe(line);
});
