import { expect, test } from "vitest";
import { readPastedFen } from "../../src/chess/pasted-fen.ts";

const longest = 4000;

test.each([
  `position${" ".repeat(longest)}`,
  `${'"'.repeat(longest - 1)}x`,
  `x${'"'.repeat(longest - 2)}x`,
  "fen ".repeat(longest / 4),
  " moves".repeat(longest / 6),
  "8/".repeat(longest / 2),
  "a.".repeat(longest / 2),
  `https://example.com/?${"&fen".repeat(longest / 5)}`,
])("a long text is quickly refused as a FEN: %.20s", (text) => {
  const sent = text.slice(0, longest);
  readPastedFen(sent, []);
  const before = process.cpuUsage();
  for (let round = 0; round < 50; round++) {
    expect(readPastedFen(sent, [])).toBeUndefined();
  }
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 50).toBeLessThan(2000);
});
