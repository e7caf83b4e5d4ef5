import { expect, test } from "vitest";
import { inOneGo } from "../../../src/chess/in-one-go.ts";
import { KibitzError } from "../../../src/errors/errors.ts";
import { annotate } from "../../../src/game/annotate.ts";
import { gameFromPgn } from "../../../src/game/game.ts";
import { readSentGame } from "../../../src/game/read-sent-game.ts";
import { review } from "../../game/games.ts";
import { acceptedTexts, refusedTexts } from "../../game/hostile-texts.ts";

test.each(refusedTexts)("a hostile PGN with %s is refused", (_, text) => {
  expect(() => inOneGo(readSentGame(text))).toThrow(KibitzError);
});

test.each(acceptedTexts)("a hostile PGN with %s is read and can be written again", (_, text) => {
  const game = inOneGo(gameFromPgn(inOneGo(readSentGame(text))));
  expect(inOneGo(annotate(game, review(game, [])))).toMatch(/e4/);
});
