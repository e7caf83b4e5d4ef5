import { expect, test } from "vitest";
import { validatePosition } from "../../../src/chess/validate-position.ts";
import { faultPlace } from "../../../web/src/analysis/fault-place.ts";

test.each([
  ["rnbqkbnr/ppppxppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "x"],
  ["rnbqkbnr/pppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "pppp"],
  ["4k3/8/44/8/8/8/8/4K3 w - - 0 1", "44"],
  [" 4k3/8/8/8/8/8/4K3 w - - 0 1", "4k3/8/8/8/8/8/4K3"],
  ["4k3/8/8/8/8/8/8/4K3 x - - 0 1", "x"],
  ["4k3/8/8/8/8/8/8/4K3 w KX - 0 1", "KX"],
  ["4k3/8/8/8/8/8/8/4K3 w - e9 0 1", "e9"],
  ["4k3/8/8/8/8/8/8/4K3 w - - half 1", "half"],
  ["4k3/8/8/8/8/8/8/4K3 w - - 0 many", "many"],
  ["4k3/8/8/8/8/8/8/4K3 w - - 0 1 and more", "and more"],
  ["4k3/8/8/8/8/8/8/4K3 w - – 0 1", "–"],
  ["4k3/8/8/8/8/8/8/8 w - - 0 1", "4k3/8/8/8/8/8/8/8"],
  ["P3k3/8/8/8/8/8/8/4K3 w - - 0 1", "P"],
  ["4k3/4K3/8/8/8/8/8/8 w - - 0 1", "K"],
  ["4k3/8/8/8/8/8/8/4KR2 w - - 0 1 ", undefined],
  ["4k3/8/8/8/8/8/8/4R1K1 w - - 0 1", "w"],
] as const)("the fault in %j is found at %j", (fen, wrong) => {
  const judgement = validatePosition({ fen, moves: [], chess960: false });
  const message = judgement.kind === "faults" ? judgement.faults[0]?.message : undefined;
  const place = message === undefined ? undefined : faultPlace(fen, message);
  expect(place && fen.slice(place.from, place.to)).toBe(wrong);
});

test("the place of a missing part of a FEN is its end", () => {
  const judgement = validatePosition({ fen: "4k3/8/8/8/8/8/8/4K3 w", moves: [], chess960: false });
  expect(judgement).toMatchObject({ kind: "faults" });
  const { from } = faultPlace("4k3/8/8/8/8/8/8/4K3 w", "The FEN has 2 fields; … are required.");
  expect(from).toBe(21);
});
