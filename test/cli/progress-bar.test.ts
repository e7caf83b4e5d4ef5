import { expect, test } from "vitest";
import { createProgressBar } from "../../src/cli/progress-bar.ts";

function barOn(isTTY: boolean, columns = 80, what = "Game 2 ") {
  const written: string[] = [];
  const stream = { fd: 2, isTTY, columns, write: (text: string) => written.push(text), once() {} };
  return { bar: createProgressBar(4, stream, what), written };
}

test("a progress bar says on one line what is done and how much of it", () => {
  const { bar, written } = barOn(true);
  bar.step();
  expect(written.at(-1)).toContain(`\r\x1b[KGame 2 ${"█".repeat(8)}${"░".repeat(22)} 1 of 4, `);
  bar.clear();
  expect(written.at(-1)).toBe("\r\x1b[K");
});

test("no progress bar is written if no terminal shows it", () => {
  const { bar, written } = barOn(false);
  bar.step();
  bar.clear();
  expect(written).toEqual([]);
});

test.each([
  [40, "Game 2 ", /^Game 2 [█░]{15} 4 of 4, \d s left$/],
  [20, "Game 2 ", /^Ga 4 of 4, \d s left$/],
  [80, `${"folder/".repeat(20)} `, /^folder\/[folder/]+ 4 of 4, \d s left$/],
])("a progress bar fits on one line of %i columns", (columns, what, line) => {
  const { bar, written } = barOn(true, columns, what);
  for (let done = 0; done < 4; done++) {
    bar.step();
  }
  const shown = written.map((text) => text.replace("\r\x1b[K", ""));
  expect(Math.max(...shown.map(({ length }) => length))).toBeLessThan(columns);
  expect(shown.at(-1)).toMatch(line);
});
