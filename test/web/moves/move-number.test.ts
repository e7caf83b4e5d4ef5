import { expect, test } from "vitest";
import { gameFromFen, mainlineOf } from "../../../web/src/game/game.ts";
import { moveNumber } from "../../../web/src/moves/move-number.ts";

test("moves have the correct numbers, also in a game that begins with Black", () => {
  const read = gameFromFen("4k3/8/8/8/8/8/8/4K3 b - - 0 7", ["Ke7", "Ke2", "Kd7"]);
  const line = read.kind === "game" ? mainlineOf(read.game) : [];
  expect(line.slice(1).map(({ position }) => moveNumber(position))).toEqual(["7…", "8.", "8…"]);
  expect(line.slice(0, 3).map(({ position }) => moveNumber(position, 0))).toEqual(["7…", "8.", "8…"]);
});
