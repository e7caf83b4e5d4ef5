import { expect, test } from "vitest";
import { manual } from "../../tools/manual.ts";

test("the manual contains every command, option and setting, and no text that roff could interpret as a request", async () => {
  const page = await manual();
  expect(page).toContain(".SS kibitz eval <fen>");
  expect(page).toMatch(/^\.B .*\\-\\-multipv <\w+>$/m);
  expect(page).toContain(".B KIBITZ_SLOTS");
  const requests = new Set(page.match(/^[.']\S*/gm));
  expect([...requests].toSorted()).toEqual([".B", ".PP", ".RI", ".SH", ".SS", ".TH", ".TP"]);
});
