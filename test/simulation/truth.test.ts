import { expect, test } from "vitest";
import { positionOf, startFen } from "../chess/validated.ts";
import { type Question, textOfPosition, truthOf } from "./truth.ts";

const question: Question = {
  answersOf: "stockfish-19",
  hashMb: 16,
  position: textOfPosition(positionOf(startFen)),
  chess960: false,
  multipv: 3,
  searchMoves: [],
};

test("the truth about a question does not depend on earlier questions", () => {
  const limits = { depth: 14, nodes: 3000 };
  const first = JSON.stringify([truthOf(question).whole(limits), truthOf(question).iteration(9)]);
  for (let other = 0; other < 6000; other++) {
    truthOf({ ...question, hashMb: other }).whole({ depth: 2, nodes: undefined });
  }
  truthOf(question).iteration(200);
  expect(JSON.stringify([truthOf(question).whole(limits), truthOf(question).iteration(9)])).toBe(first);
});

test.each<Partial<Question>>([
  { answersOf: "stockfish-18" },
  { hashMb: 32 },
  { position: `${question.position} moves e2e4` },
  { multipv: 2 },
  { searchMoves: ["a2a3", "e2e4", "g1f3"] },
])("the truth about a question differs with %o", (other) => {
  const limits = { depth: undefined, nodes: 5000 };
  expect(truthOf({ ...question, ...other }).whole(limits)).not.toEqual(truthOf(question).whole(limits));
});

test("the truth about a question has only legal moves, and each line begins with another move", () => {
  for (let depth = 1; depth < 40; depth++) {
    const { lines } = truthOf(question).iteration(depth);
    expect(new Set(lines.map(({ moves }) => moves[0])).size).toBe(3);
    for (const { moves } of lines) {
      positionOf(startFen, { moves });
    }
  }
});

test("an iteration that is interrupted never has the true lines", () => {
  const truth = truthOf(question);
  for (let depth = 1; depth < 40; depth++) {
    for (let variant = 0; variant < 10; variant++) {
      const { lines } = truth.unfinished(depth, 1000, variant);
      expect(lines[0]?.depth).toBe(depth);
      expect(lines[0]?.score).not.toEqual(truth.iteration(depth).lines[0]?.score);
    }
  }
});
