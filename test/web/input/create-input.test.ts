import { signal } from "@preact/signals";
import { expect, onTestFinished, test } from "vitest";
import { createGameState } from "../../../web/src/game/create-game.ts";
import { mainlineOf } from "../../../web/src/game/game.ts";
import { createInput } from "../../../web/src/input/create-input.ts";
import type { View } from "../../../web/src/view.ts";

test("a text that is opened while a large text is still read stays open", async () => {
  const game = createGameState();
  const view = signal<View>("analysis");
  const address = {
    view,
    link: signal({ href: "", note: undefined }),
    open() {},
    show() {},
    begin() {},
    dispose() {},
  };
  const input = createInput({ game, address, review() {} });
  onTestFinished(input.dispose);
  const large = input.take('[White "A"]\n\n1. e4 e5 *\n\n'.repeat(10_000));
  const small = input.take("1. d4 d5 *");
  await Promise.all([large, small]);
  expect(mainlineOf(game.game.value).flatMap(({ move }) => move?.san ?? [])).toEqual(["d4", "d5"]);
  expect(input.found.value.length).toBe(0);
  expect(input.text.value).toBe("1. d4 d5 *");
});
