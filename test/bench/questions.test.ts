import { expect, test } from "vitest";
import { newPositions } from "../../bench/service/questions.ts";
import { judgePosition } from "../../src/chess/judge-position.ts";

const some = (seed: number) => newPositions(seed).take(500).toArray();

test("positions of a bench are legal, have moves, and differ in more than their counters", () => {
  const boards = some(1).map((fen) => {
    const judgement = judgePosition({ fen, moves: [], chess960: false });
    if (judgement.kind === "faults") {
      throw new Error(`bad position: ${fen}`);
    }
    return fen.split(" ")[0];
  });
  expect(new Set(boards).size).toBe(500);
});

test("positions of a bench are the same ones for the same seed", () => {
  expect(some(2)).toEqual(some(2));
  expect(some(2)).not.toEqual(some(3));
});
