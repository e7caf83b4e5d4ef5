import fc from "fast-check";
import { expect, test } from "vitest";
import { faultPlace } from "../../../web/src/analysis/fault-place.ts";
import { readPlay } from "../../../web/src/analysis/play.ts";
import { kindOfText } from "../../../web/src/kind-of-text.ts";
import { placeFromFragment } from "../../../web/src/place-text.ts";

function played(fen: string, moves: readonly string[] = []) {
  const reading = readPlay(fen, moves);
  if (reading.kind === "faults") {
    throw new Error(reading.faults[0]?.message);
  }
  return reading.play;
}

test("the page plays moves in UCI and SAN", () => {
  const { moves, positions } = played("startpos", ["e4", "e7e5", "Nf3"]);
  expect(moves.map(({ san }) => san)).toEqual(["e4", "e5", "Nf3"]);
  expect(positions).toHaveLength(4);
});

test("the page reads castling rights that only Chess960 explains as Chess960", () => {
  const { positions } = played("1rk4r/8/8/8/8/8/8/1RK4R w KQkq - 0 1", ["O-O"]);
  expect(positions[0]).toMatchObject({ chess960: true, fen: "1rk4r/8/8/8/8/8/8/1RK4R w HBhb - 0 1" });
});

test("the page keeps a standard position standard, also if a castling right is of no use", () => {
  const { positions, warnings } = played("4k3/8/8/8/8/8/8/4K3 w KQ - 0 1");
  expect(positions[0]?.chess960).toBe(false);
  expect(warnings.map(({ code }) => code)).toEqual(["castling_rights_removed"]);
});

test("the page plays moves up to the first illegal one, and names that", () => {
  const { moves, refused } = played("startpos", ["e4", "Ke4", "e5"]);
  expect(moves.map(({ san }) => san)).toEqual(["e4"]);
  expect(refused).toMatchObject({ index: 1, message: "'Ke4' is not a legal move for Black." });
});

test("the page completes a FEN that is too short", () => {
  expect(readPlay("4k3/8/8/8/8/8/8/4K2R w", [])).toMatchObject({
    kind: "faults",
    suggestedFen: "4k3/8/8/8/8/8/8/4K2R w K - 0 1",
  });
});

test("the page reads any link and any pasted text without an exception", () => {
  const like = fc.stringMatching(/^[-rnbqkpRNBQKP1-9/ wKQkqa-h_%&=.+#]{0,140}$/);
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: "binary" }), like), (text) => {
      const { fen, moves, ply } = placeFromFragment(`#fen=${text}&moves=${text}`);
      const reading = readPlay(fen, moves);
      expect(ply).toBeLessThanOrEqual(moves.length);
      for (const { message } of reading.kind === "faults" ? reading.faults : []) {
        const { from, to } = faultPlace(fen, message);
        expect(0 <= from && from <= to && to <= fen.length + 1, `${fen}: ${message}`).toBe(true);
      }
      expect(kindOfText(text)).toBeOneOf(["fen", "pgn", undefined]);
    }),
    { numRuns: 75 },
  );
});
