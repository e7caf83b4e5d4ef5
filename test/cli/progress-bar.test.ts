import { expect, test } from "vitest";
import { createProgressBar } from "../../src/cli/progress-bar.ts";

function barOn(isTTY: boolean) {
  const written: string[] = [];
  const stream = { fd: 2, isTTY, write: (text: string) => written.push(text), once() {} };
  return { bar: createProgressBar(4, stream, "Game 2 "), written };
}

test("a bar says what is done and how much of it, on one line", () => {
  const { bar, written } = barOn(true);
  bar.step();
  expect(written.at(-1)).toContain(`\r\x1b[KGame 2 ${"█".repeat(8)}${"░".repeat(22)} 1 of 4, `);
  bar.clear();
  expect(written.at(-1)).toBe("\r\x1b[K");
});

test("nothing is written where nobody looks", () => {
  const { bar, written } = barOn(false);
  bar.step();
  bar.clear();
  expect(written).toEqual([]);
});
