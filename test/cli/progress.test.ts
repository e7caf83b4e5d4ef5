import { expect, test } from "vitest";
import { createProgress } from "../../src/cli/progress.ts";

function progressOn(isTTY: boolean, columns = 80) {
  const written: string[] = [];
  const stream = { fd: 2, isTTY, columns, write: (text: string) => written.push(text), once() {} };
  return {
    progress: createProgress(4, stream, "Game 2"),
    last: () => written.at(-1)?.replace("\r\x1b[K", ""),
    written,
  };
}

test("the progress is printed on one line of the terminal", () => {
  const { progress, last, written } = progressOn(true);
  progress.step();
  expect(last()).toMatch(/^1 of 4, \d s left Game 2$/);
  progress.clear();
  expect(written.at(-1)).toBe("\r\x1b[K");
});

test("the progress line is truncated to the width of the terminal", () => {
  const { progress, last } = progressOn(true, 20);
  progress.step();
  expect(last()).toMatch(/^1 of 4, \d s left Ga$/);
});

test("the progress is not printed if the output is not a terminal", () => {
  const { progress, written } = progressOn(false);
  progress.step();
  progress.clear();
  expect(written).toEqual([]);
});
