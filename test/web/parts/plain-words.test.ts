import { expect, test } from "vitest";
import { plainWords } from "../../../web/src/parts/plain-words.ts";

test.each([
  [
    "'Ke3' is not a legal move, in the position rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2 (ply 3, line 4, column 4).",
    "'Ke3' is not a legal move (move 2, line 4, column 4).",
  ],
  [
    "The tag FEN was read as startpos (ply 1, line 1, column 1).",
    "The tag FEN was read as startpos (move 1, line 1, column 1).",
  ],
  ["`depth` must be from 1 to 30, not 99.", "depth must be from 1 to 30, not 99."],
])("the message %s is written for players as %s", (message, words) => {
  expect(plainWords(message)).toBe(words);
});
