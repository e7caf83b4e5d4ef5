import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { Bound, ScoreSchema } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import { briefly, scoreText } from "../../../web/src/parts/score-text.ts";

test.each([
  [{ case: "cp", value: 24 }, Bound.EXACT, "+0.24"],
  [{ case: "cp", value: -130 }, Bound.EXACT, "−1.30"],
  [{ case: "cp", value: 0 }, Bound.EXACT, "0.00"],
  [{ case: "mate", value: 3 }, Bound.EXACT, "#3"],
  [{ case: "mate", value: -3 }, Bound.EXACT, "#−3"],
  [{ case: "mate", value: 0 }, Bound.EXACT, "#"],
  [{ case: "cp", value: 5 }, Bound.LOWER, "≥ +0.05"],
  [{ case: "cp", value: 5 }, Bound.UPPER, "≤ +0.05"],
] as const)("the score %j with bound %i is written as %s", (value, bound, text) => {
  expect(scoreText(create(ScoreSchema, { value, bound }))).toBe(text);
});

test.each([
  [950, "950"],
  [45_356n, "45.4 k"],
  [999_999, "1000 k"],
  [1_250_000n, "1.25 M"],
  [12_345_678_901, "12.3 G"],
] as const)("the number %s is shortened to %s", (count, text) => {
  expect(briefly(count)).toBe(text);
});
