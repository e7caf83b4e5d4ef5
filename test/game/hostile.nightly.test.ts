import { expect, test } from "vitest";
import { KibitzError } from "../../src/errors/errors.ts";
import { annotate } from "../../src/game/annotate.ts";
import { gameFromPgn } from "../../src/game/game.ts";
import { readSentGame } from "../../src/game/read-sent-game.ts";
import { timesOf } from "../support/stopwatch.ts";
import { threadMs } from "../support/thread-time.ts";
import { review } from "./games.ts";
import { acceptedTexts, refusedTexts } from "./hostile-texts.ts";

/** The slowest texts. `test/slow/game/hostile.nightly.test.ts` reads all hostile texts. */
const longest = ["tags", "long words in long lines", "brackets in brackets", "remarks in brackets"];
const texts = [...refusedTexts, ...acceptedTexts].filter(([name]) => longest.includes(name));

/**
 * Runs a generator to its end. Reports the processor time of each time slice in milliseconds. The time of the garbage collector
 * is not included.
 */
function run<T>(slices: Generator<void, T>, note: (ms: number) => void): T {
  for (;;) {
    const before = threadMs();
    try {
      const slice = slices.next();
      if (slice.done) {
        return slice.value;
      }
    } finally {
      note(threadMs() - before);
    }
  }
}

test.each(texts)(
  "reading and writing a PGN of %s blocks the event loop for less than 50 ms at a time",
  async (_, text) => {
    const longestSlices = await timesOf(20, async () => {
      let longestMs = 0;
      const note = (ms: number) => {
        longestMs = Math.max(longestMs, ms);
      };
      try {
        const game = run(gameFromPgn(run(readSentGame(text), note)), note);
        run(annotate(game, review(game, [])), note);
      } catch (error) {
        expect(error).toBeInstanceOf(KibitzError);
      }
      return longestMs;
    });
    // Linux may count processor time in steps of 4 ms, and a slow core takes 16 ms for the slowest slices.
    expect(longestSlices.medianMs).toBeLessThan(20);
    expect(longestSlices.worstMs).toBeLessThan(50);
  },
);
