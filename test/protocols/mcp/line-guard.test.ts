import { describe, expect, test } from "vitest";
import { createLineGuard } from "../../../src/protocols/mcp/line-guard.ts";

/** What comes through, and how often something was too long. */
async function guarded(chunks: readonly string[], maxBytes: number) {
  let tooLong = 0;
  const guard = createLineGuard({
    maxBytes,
    tooLong() {
      tooLong++;
    },
    passes: (line) => line !== "no\n",
  });
  const lines = guard.setEncoding("utf8").toArray();
  for (const chunk of chunks) {
    guard.write(chunk);
  }
  guard.end();
  return { text: (await lines).join(""), tooLong };
}

describe("of lines that come in pieces", () => {
  test.each<[string, readonly string[], string, number]>([
    ["all of one that is as long as it may be", ["ab", "cd", "\n"], "abcd\n", 0],
    ["none of one that is longer, however it comes", ["ab", "cd", "e", "fgh\nij\n"], "ij\n", 1],
    ["those before and after it", ["a\nbcdef\nc\n", "defgh", "ijklm\n\n"], "a\nc\n\n", 2],
    ["nothing of one without an end, which is told at once", ["abcd", "efgh"], "", 1],
    ["nothing of one that may not", ["a\nn", "o\nb\n"], "a\nb\n", 0],
    ["bytes, which are more than characters", ["äöü\näö\n"], "äö\n", 1],
  ])("the guard of lines that come in pieces passes %s", async (_, chunks, text, tooLong) => {
    expect(await guarded(chunks, 4)).toEqual({ text, tooLong });
  });
});
