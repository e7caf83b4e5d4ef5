import { test } from "vitest";
import { expectEqualAnswers } from "./fast-answers.ts";

test("the fast build with the lite network gives the answers of the npm package stockfish in 24 positions", async () => {
  await expectEqualAnswers("stockfish-19-lite", 1, 24);
});
