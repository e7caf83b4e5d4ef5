import { expect, test } from "vitest";
import { winPercentOfCp } from "../../src/chess/score.ts";
import { centipawnsOf, gameAccuracy, moveAccuracy } from "../../src/game/accuracy.ts";
import { type Shorthand, valueFrom } from "./games.ts";

const near = 3;

test.each<readonly [Shorthand, number]>([
  [0, 50],
  [15, 51.3804],
  [50, 54.5896],
  [100, 59.1026],
  [200, 67.6212],
  [300, 75.1126],
  [500, 86.3072],
  [1000, 97.5447],
  [9999, 97.5447],
  ["#1", 97.5447],
  ["#30", 97.5447],
  ["#-1", 2.4553],
])("the win percentage of the score %s is %f", (score, percent) => {
  expect(winPercentOfCp(centipawnsOf(valueFrom(score)))).toBeCloseTo(percent, near);
});

test.each([
  [0, 100],
  [1, 96.604],
  [2, 92.395],
  [5, 80.815],
  [10, 64.58],
  [15, 51.521],
  [20, 41.017],
  [30, 25.772],
  [40, 15.909],
  [60, 5.399],
  [80, 1],
  [95, 0],
  [-10, 100],
])("a move that loses %i percentage points has the accuracy %f", (drop, accuracy) => {
  expect(moveAccuracy(97, 97 - drop)).toBeCloseTo(accuracy, near);
});

const times = (count: number, ...cps: readonly number[]) => Array.from({ length: count }, () => cps).flat();

test.each([
  [[15, 15], 100, 100],
  [[-900, -900], 10.6641, 100],
  [[15, 900], 100, 12.3031],
  [[-900, 0], 10.6641, 11.459],
  [times(20, 15), 100, 100],
  [[...times(20, 15), -900], 46.8534, 100],
  [[...times(21, 15), 900], 100, 49.388],
  [times(5, -50, 15), 77.383, 77.383],
  [times(50, -50, 15), 77.383, 77.383],
  [times(50, -135, 15), 55.0007, 55.0007],
  [times(50, -435, 15), 20.6946, 20.6946],
])("the accuracy of a game with the scores %j is %f for White and %f for Black", (cps, white, black) => {
  const accuracy = gameAccuracy([15, ...cps], "white");
  expect(accuracy?.white).toBeCloseTo(white, near);
  expect(accuracy?.black).toBeCloseTo(black, near);
});

test.each([
  [[900, 900], 100, 12.3031],
  [[15, -900], 10.6641, 100],
])(
  "the accuracy of a game that Black begins with the scores %j is %f for White and %f for Black",
  (cps, white, black) => {
    const accuracy = gameAccuracy([15, ...cps], "black");
    expect(accuracy?.white).toBeCloseTo(white, near);
    expect(accuracy?.black).toBeCloseTo(black, near);
  },
);

test.each([[[]], [[15]]])("a game has an accuracy only if both sides have moved: %j", (cps) => {
  expect(gameAccuracy([15, ...cps], "white")).toBeUndefined();
  expect(gameAccuracy([15, ...cps], "black")).toBeUndefined();
});
