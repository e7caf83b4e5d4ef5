import { expect, test } from "vitest";
import { plainWords, wordsOfWarning } from "../../../web/src/parts/plain-words.ts";

const black = "4k3/8/8/8/8/8/8/4K3 b - - 0 20";

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

test.each([
  [1, 20],
  [2, 21],
  [3, 21],
])("in a game in which Black begins with move 20, ply %d is move %d", (ply, move) => {
  expect(plainWords(`Wrong (ply ${ply}).`, black)).toBe(`Wrong (move ${move}).`);
});

test("the number of an illegal move is the number of its position", () => {
  const words = plainWords("'Ke3' is not legal, in the position 4k3/8/8/8/8/8/8/4K3 w - - 0 41 (ply 3).");
  expect(words).toBe("'Ke3' is not legal (move 41).");
});

test.each(["4k3/8/8/8/8/8/8/4K3 w", "startpos"])("a game from %s begins with move 1", (start) => {
  expect(plainWords("Wrong (ply 2).", start)).toBe("Wrong (move 1).");
});

test("a warning is written without codes, or as the page itself says it", () => {
  const warning = { code: "new_code", message: "Set `depth` at ply 3." };
  expect(wordsOfWarning(warning)).toBe("Set depth at move 2.");
  for (const code of ["engine_version_differs", "default_depth_applied", "multipv_reduced", "time_limited"]) {
    expect(wordsOfWarning({ code, message: "set `engine`" })).not.toContain("engine`");
  }
});
