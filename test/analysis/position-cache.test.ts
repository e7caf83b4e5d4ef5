import { describe, expect, test } from "vitest";
import { createPositionCache } from "../../src/analysis/judge-request.ts";
import { judgePosition, movesAtOnce } from "../../src/chess/judge-position.ts";
import type { PositionInput } from "../../src/chess/position.ts";
import { createTimeSlicer } from "../../src/thread/event-loop.ts";
import { startFen } from "../chess/judged.ts";

const inputOf = (told: Partial<PositionInput> = {}): PositionInput => ({
  fen: startFen,
  moves: [],
  chess960: false,
  ...told,
});

describe("a position that is judged again", () => {
  test("a position is judged once, and one with a fault each time", async () => {
    const judge = createPositionCache(createTimeSlicer());
    const first = await judge(inputOf());
    expect(first).toEqual(judgePosition(inputOf()));
    expect(await judge(inputOf())).toBe(first);
    const bad = inputOf({ fen: "nonsense" });
    expect(await judge(bad)).not.toBe(await judge(bad));
  });

  test.each<[string, Partial<PositionInput>]>([
    ["another FEN text", { fen: ` ${startFen}` }],
    ["another variant", { chess960: true }],
    ["moves", { moves: ["e4"] }],
    ["a FEN that begins like the name of a variant", { fen: `960 ${startFen}` }],
    ["a FEN with a fault", { fen: "nonsense" }],
    ["a FEN that is too long", { fen: `${startFen}${" ".repeat(200)}x` }],
  ])("the cache of positions tells a position from one with %s", async (_, told) => {
    const judge = createPositionCache(createTimeSlicer());
    for (const chess960 of [false, true, false, true]) {
      await judge(inputOf({ chess960 }));
    }
    expect(await judge(inputOf(told))).toEqual(judgePosition(inputOf(told)));
  });

  test("the cache of positions tells long games apart whose texts are split elsewhere", async () => {
    const judge = createPositionCache(createTimeSlicer());
    const moves = Array.from(
      { length: movesAtOnce + 8 },
      (_, ply) => ["Nf3", "Nf6", "Ng1", "Ng8"][ply % 4] ?? "",
    );
    expect((await judge(inputOf({ moves }))).kind).toBe("position");
    const [first, ...others] = moves;
    for (const separator of ["\n", ",", '","']) {
      const cut = { fen: `${startFen}${separator}${first}`, moves: others };
      expect((await judge(inputOf(cut))).kind).toBe("faults");
    }
  });
});
