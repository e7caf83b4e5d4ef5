import { expect, test } from "vitest";
import { adviseOn } from "../../src/game/judgement.ts";
import { type Shorthand, valueFrom } from "./games.ts";

const unavoidable = "Checkmate is now unavoidable";
const lost = "Lost forced checkmate sequence";

test.each<readonly [Shorthand, Shorthand, string | undefined, string | undefined]>([
  [0, 0, undefined, undefined],
  [0, 300, undefined, undefined],
  [0, -54, undefined, undefined],
  [0, -55, "inaccuracy", "Inaccuracy"],
  [0, -110, "inaccuracy", "Inaccuracy"],
  [0, -111, "mistake", "Mistake"],
  [0, -168, "mistake", "Mistake"],
  [0, -169, "blunder", "Blunder"],
  [300, 232, undefined, undefined],
  [300, 231, "inaccuracy", "Inaccuracy"],
  [300, 170, "inaccuracy", "Inaccuracy"],
  [300, 169, "mistake", "Mistake"],
  [300, 112, "mistake", "Mistake"],
  [300, 111, "blunder", "Blunder"],
  // These scores are not limited to the maximum score.
  [1400, 700, "inaccuracy", "Inaccuracy"],
  [0, "#-4", "blunder", unavoidable],
  [-700, "#-4", "blunder", unavoidable],
  [-701, "#-4", "mistake", unavoidable],
  [-999, "#-4", "mistake", unavoidable],
  [-1000, "#-4", "inaccuracy", unavoidable],
  [0, "#4", undefined, undefined],
  ["#3", 1000, "inaccuracy", lost],
  ["#3", 999, "mistake", lost],
  ["#3", 701, "mistake", lost],
  ["#3", 700, "blunder", lost],
  ["#3", "#-3", "blunder", lost],
  ["#3", "#9", undefined, undefined],
  ["#-9", "#-1", undefined, undefined],
  ["#-9", -500, undefined, undefined],
  ["#-9", "#3", undefined, undefined],
])(
  "a move that changes the mover's score from %s to %s is judged %s",
  (before, after, judgement, comment) => {
    const advice = judgement && { judgement, comment };
    const [previous, next] = [valueFrom(before), valueFrom(after)];
    expect(adviseOn(previous, next, "white")).toEqual(advice);
    expect(adviseOn(turned(previous), turned(next), "black")).toEqual(advice);
  },
);

function turned(value: ReturnType<typeof valueFrom>) {
  return value.kind === "cp" ? { kind: value.kind, cp: -value.cp } : { kind: value.kind, mate: -value.mate };
}
