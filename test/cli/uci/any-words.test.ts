import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { giveClockBack, openTimers, takeClock } from "../../engine/clock.ts";
import { talk } from "./talk.ts";

beforeEach(takeClock);
afterEach(giveClockBack);

const word = fc.constantFrom(
  ..."uci isready ucinewgame debug on stop ponderhit setoption name value MultiPV Hash true position".split(
    " ",
  ),
  ..."startpos fen moves e2e4 e7e5 e2e5 O-O 8/8/8/8/8/8/8/8 w - go depth nodes movetime wtime btime".split(
    " ",
  ),
  ..."movestogo mate infinite ponder searchmoves 0 1 -5 99999999999999999999 1e3 \u0000 é".split(" "),
);
const line = fc.oneof(
  fc.array(word, { maxLength: 8 }).map((words) => words.join(" ")),
  fc.string({ maxLength: 40 }),
  fc.array(word, { maxLength: 5 }).map((words) => `go ${words.join(" ")}`),
);

test("after any input, kibitz uci prints one bestmove for each go, and leaves no timer running", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 12 }), async (lines) => {
      // Files share a worker: another file may have left a timer.
      const timersBefore = openTimers();
      const { hear, hearWithin } = talk();
      const sent = lines.map((text) => text.replace(/\bquit\b/g, ""));
      const heard = [...(await hear(...sent))];
      const begun = sent.filter(isGo).length;
      // A `go` waits for a bounded search, so each search needs its own `stop`.
      for (let stops = 0; stops < begun; stops++) {
        heard.push(...(await hear("stop")), ...(await hearWithin(120)));
      }
      expect(heard.filter((text) => text.startsWith("bestmove "))).toHaveLength(begun);
      expect(openTimers()).toBe(timersBefore);
    }),
    { numRuns: 150 },
  );
});

/** Returns true for a line with the command `go`. The UCI protocol allows unknown words before a command. */
function isGo(text: string): boolean {
  const commands = /^(uci|isready|stop|ponderhit|quit|setoption|position|go)$/;
  return (
    text
      .trim()
      .split(/\s+/)
      .find((word) => commands.test(word)) === "go"
  );
}
