import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { Snapshot } from "../../src/engine/engine.ts";
import { parseLine } from "../../src/engine/uci/parse-line.ts";
import { createSnapshotFold } from "../../src/engine/uci/snapshot-fold.ts";

interface Limits {
  readonly lineCount: number;
  readonly nodes?: number | undefined;
  readonly movetimeMs: number;
  readonly reports?: "iterations" | "tree";
}

/** Returns the intermediate snapshots and the final snapshot. */
function foldOf(lines: readonly string[], { nodes, ...limits }: Limits) {
  const fold = createSnapshotFold({ nodes, reports: "iterations", ...limits });
  const complete: Snapshot[] = [];
  for (const line of lines) {
    const parsed = parseLine(line);
    const snapshot = parsed.kind === "info" ? fold.add(parsed.info) : undefined;
    if (snapshot) {
      complete.push(snapshot);
    }
  }
  return { complete, final: fold.final() };
}

const recorded = fileURLToPath(new URL("recorded", import.meta.url));
/** The output of a real engine, which `recorded/record.ts` recorded. */
const textOf = (name: string) => readFileSync(`${recorded}/${name}.txt`, "utf8");

function foldRecorded(name: string, limits: Limits) {
  return foldOf(textOf(name).split("\n"), limits);
}

const depthsOf = (snapshots: readonly Snapshot[]) => snapshots.map(({ depth }) => depth);
const firstMovesOf = (snapshot: Snapshot | undefined) => snapshot?.lines.map(({ moves }) => moves[0]);

test.each(["iterations", "tree"] as const)(
  "a line with a mate in no moves is ignored, because only a finished game has this score: %s",
  (reports) => {
    const lines = ["info depth 1 score cp 3 pv e2e4", "info depth 2 score mate 0 pv d2d4"];
    const { complete, final } = foldOf(lines, { lineCount: 1, movetimeMs: 1000, reports });
    expect(complete).toHaveLength(1);
    expect(firstMovesOf(final)).toEqual(["e2e4"]);
  },
);

describe("output of Stockfish for three lines to depth 6", () => {
  test.each([
    ["stockfish-15.1", ["e1g1", "b1d2", "b2b3"], 4089],
    ["stockfish-19-lite", ["b1d2", "e1g1", "b2b3"], 4005],
  ])(
    "every complete iteration of a search gives a snapshot, and the last snapshot is the result: %s",
    (engine, moves, nodes) => {
      const { complete, final } = foldRecorded(`${engine}-multipv3-depth6`, {
        lineCount: 3,
        movetimeMs: 60_000,
      });
      expect(depthsOf(complete)).toEqual([1, 2, 3, 4, 5, 6]);
      expect(complete.map(({ lines }) => lines.length)).toEqual([3, 3, 3, 3, 3, 3]);
      expect(final).toEqual(complete.at(-1));
      expect(firstMovesOf(final)).toEqual(moves);
      expect(final?.counters.nodes).toBe(nodes);
    },
  );

  test("a line of a snapshot has the values that Stockfish printed", () => {
    const { final } = foldRecorded("stockfish-15.1-multipv3-depth6", { lineCount: 3, movetimeMs: 60_000 });
    expect(final?.lines[2]).toEqual({
      depth: 6,
      seldepth: 6,
      score: { value: { kind: "cp", cp: -13 }, bound: "exact", wdl: { win: 4, draw: 982, loss: 14 } },
      moves: ["b2b3", "h7h6", "c1a3", "c5d4"],
    });
  });
});

describe("output of Stockfish in 60 ms", () => {
  const limits = { lineCount: 3, nodes: undefined, movetimeMs: 60 };

  test("a partial iteration that repeats lines of the previous iteration is ignored at the time limit", () => {
    const { complete, final } = foldRecorded("stockfish-15.1-movetime60", limits);
    expect(depthsOf(complete)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(firstMovesOf(final)).toEqual(["e1g1", "b2b3", "f3e5"]);
  });

  test("an iteration that prints only old lines with a new depth is ignored", () => {
    const { complete, final } = foldRecorded("stockfish-19-lite-movetime60", limits);
    expect(depthsOf(complete)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(firstMovesOf(final)).toEqual(["b1d2", "e1g1", "b2b3"]);
  });

  test("an iteration that was printed only partly before the limit is ignored", () => {
    const { complete, final } = foldRecorded("stockfish-19-movetime60", limits);
    expect(depthsOf(complete)).toEqual([1, 2, 3]);
    expect(firstMovesOf(final)).toEqual(["b1d2", "b2b3", "e1g1"]);
  });

  test("the result has the lines of the last complete iteration and the counters of the complete search", () => {
    const { complete, final } = foldRecorded("stockfish-15.1-movetime60", limits);
    expect(final).toEqual({ ...complete.at(-1), counters: expect.objectContaining({ nodes: 16_765 }) });
    expect(complete.at(-1)?.counters).toEqual({
      nodes: 9614,
      nps: 343_357,
      timeMs: 28,
      hashfull: 2,
      tbhits: 0,
    });
  });
});

describe("output of Stockfish in 1 ms", () => {
  test.each([
    ["stockfish-15.1", 3, 5, ["e1g1", "c5d4"]],
    ["stockfish-19-lite", 1, 1, ["a2a3"]],
  ])(
    "a search of 1 ms without a complete iteration returns the last printed first line: %s",
    (engine, lineCount, depth, moves) => {
      const { complete, final } = foldRecorded(`${engine}-movetime1`, { lineCount, movetimeMs: 1 });
      expect(complete).toEqual([]);
      expect(final).toMatchObject({ complete: false, depth, lines: [{ depth, moves }] });
      expect(final?.lines).toHaveLength(1);
    },
  );
});

describe("output of Stockfish at a node limit", () => {
  test.each([
    ["stockfish-15.1", 6, ["e1g1", "b1d2", "b2b3"], 5002],
    ["stockfish-19", 5, ["e1g1", "b1d2", "d3c2"], 5000],
  ])("a partial iteration at the node limit is ignored: %s", (engine, depth, moves, nodes) => {
    const limits = { lineCount: 3, nodes: 5000, movetimeMs: 60_000 };
    const { complete, final } = foldRecorded(`${engine}-nodes5000`, limits);
    expect(depthsOf(complete)).toEqual(Array.from({ length: depth }, (_, at) => at + 1));
    expect(firstMovesOf(final)).toEqual(moves);
    expect(final?.counters.nodes).toBe(nodes);
  });

  test.each([
    ["stockfish-15.1", 53],
    ["stockfish-19-lite", 58],
  ])("an iteration above the node limit is complete if the next iteration has begun: %s", (engine, nodes) => {
    const { complete, final } = foldRecorded(`${engine}-nodes1`, {
      lineCount: 1,
      nodes: 1,
      movetimeMs: 60_000,
    });
    expect(complete).toMatchObject([{ depth: 1, complete: true, counters: { nodes } }]);
    expect(final).toMatchObject({ depth: 1, complete: true, counters: { nodes: nodes + 1 } });
  });

  test.each(["stockfish-15.1", "stockfish-19-lite"])(
    "at the node limit, lines that the engine did not search are ignored, even if the lines look complete: %s",
    (engine) => {
      const limits = { lineCount: 3, nodes: 1, movetimeMs: 60_000 };
      const { complete, final } = foldRecorded(`${engine}-multipv3-nodes1`, limits);
      expect(complete).toEqual([]);
      expect(final).toMatchObject({ complete: false, depth: 1, lines: [{ moves: ["b1d2"] }] });
      expect(final?.lines).toHaveLength(1);
    },
  );
});

describe("output of Stockfish in 8 s", () => {
  const limits = { lineCount: 2, movetimeMs: 8000 };

  test("an iteration is ignored if only its first line was searched", () => {
    // The second line has the new depth and an exact score, but its move is the previous best move.
    const { complete, final } = foldRecorded("stockfish-15.1-multipv2-movetime8000", limits);
    expect(depthsOf(complete).slice(-3)).toEqual([19, 20, 21]);
    expect(final).toMatchObject({ depth: 21, complete: true });
  });

  test("a complete iteration is reported once", () => {
    const { complete, final } = foldRecorded("stockfish-15.1-multipv2-movetime8000-again", limits);
    expect(depthsOf(complete).slice(-3)).toEqual([20, 21, 22]);
    expect(complete.at(-1)?.counters.timeMs).toBeGreaterThan(6000);
    expect(final).toMatchObject({ depth: 22, complete: true, lines: complete.at(-1)?.lines ?? [] });
  });
});

test("a score that is only a bound does not complete a snapshot", () => {
  const { complete, final } = foldRecorded("stockfish-15.1-bounds", { lineCount: 1, movetimeMs: 60_000 });
  expect(complete.map(({ depth, lines: [line] }) => [depth, line?.score.bound, line?.score.value])).toEqual([
    [25, "exact", { kind: "cp", cp: 3 }],
    [26, "exact", { kind: "cp", cp: 10 }],
    [27, "exact", { kind: "cp", cp: 18 }],
  ]);
  expect(final?.lines[0]?.moves).toHaveLength(29);
});

describe("invented lines", () => {
  const limits = { lineCount: 2, movetimeMs: 1000 };
  const line = (depth: number, multipv: number, more = "") =>
    `info depth ${depth} multipv ${multipv} score cp 1 ${more} time 5 pv e2e4`;

  test("an empty output gives no snapshot", () => {
    expect(foldOf([], limits)).toEqual({ complete: [], final: undefined });
    expect(foldOf(["info depth 1", "info nodes 5"], limits).final).toBeUndefined();
  });

  test.each([
    ["depth", "info score cp 1 pv e2e4"],
    ["score", "info depth 3 pv e2e4"],
    ["moves", "info depth 3 score cp 1"],
  ])("a line without %s is ignored", (_, without) => {
    expect(foldOf([without], { ...limits, lineCount: 1 })).toEqual({ complete: [], final: undefined });
  });

  test.each([
    ["the second line is missing", [line(1, 1), line(2, 1)]],
    ["the first line is missing", [line(1, 2), line(2, 2)]],
    ["the second line is of another depth", [line(2, 1), line(1, 2)]],
    ["the second line has only a bound", [line(1, 1), line(1, 2, "upperbound")]],
    ["the first line has only a bound", [line(1, 1, "lowerbound"), line(1, 2)]],
    ["a line is printed twice", [line(1, 1), line(1, 3), line(1, 1)]],
  ])("an iteration is not complete if %s", (_, lines) => {
    expect(foldOf(lines, limits).complete).toEqual([]);
  });

  test("an iteration that is printed again replaces the old iteration when it is complete", () => {
    const lines = [line(1, 1), line(1, 1), line(1, 2)];
    expect(depthsOf(foldOf(lines, limits).complete)).toEqual([1]);
  });

  test("lines above the requested number of lines are ignored", () => {
    const { complete } = foldOf([line(1, 1), line(1, 2), line(1, 3)], limits);
    expect(complete.map(({ lines }) => lines.length)).toEqual([2]);
  });

  test("lines without multipv, seldepth and wdl are accepted", () => {
    const { final } = foldOf(["info depth 4 score mate -1 pv e2e4"], { ...limits, lineCount: 1 });
    expect(final?.lines).toEqual([
      {
        depth: 4,
        seldepth: 4,
        score: { value: { kind: "mate", mate: -1 }, bound: "exact", wdl: undefined },
        moves: ["e2e4"],
      },
    ]);
  });

  const moving = (depth: number) => `info depth ${depth} currmove e2e4 currmovenumber 1`;
  const late = (depth: number, multipv: number) =>
    `info depth ${depth} multipv ${multipv} score cp 1 nodes 10000001 time 900 pv e2e4`;

  test.each([
    [
      "a currmove line of the same depth follows",
      [moving(1), line(1, 1), line(1, 2), moving(1)],
      [],
      undefined,
    ],
    ["a currmove line of the next depth follows", [moving(1), line(1, 1), line(1, 2), moving(2)], [1], 1],
    ["a line of the next depth follows", [moving(1), line(1, 1), line(1, 2), line(2, 1)], [1], 1],
    [
      "the lines of the same depth follow again",
      [moving(1), line(1, 1), line(1, 2), line(1, 1)],
      [],
      undefined,
    ],
    ["nothing follows", [moving(1), line(1, 1), line(1, 2)], [], 1],
    [
      "a currmove line of the same depth follows the first iteration above 10 million nodes",
      [late(1, 1), late(1, 2), moving(1)],
      [],
      undefined,
    ],
    ["nothing follows the first iteration above 10 million nodes", [late(1, 1), late(1, 2)], [], 1],
    [
      "two iterations are above 10 million nodes",
      [late(1, 1), late(1, 2), late(2, 1), late(2, 2)],
      [1, 2],
      2,
    ],
  ])("a currmove line shows whether an iteration is complete: %s", (_, lines, depths, last) => {
    const { complete, final } = foldOf(lines, limits);
    expect(depthsOf(complete)).toEqual(depths);
    expect(final?.complete ? final.depth : undefined).toBe(last);
  });

  test("a currmove line does not complete an iteration if only one line is searched", () => {
    const { complete } = foldOf([moving(1), line(1, 1), moving(1)], { ...limits, lineCount: 1 });
    expect(depthsOf(complete)).toEqual([1]);
  });

  const counted = (depth: number, nodes: number, more = "") => line(depth, 1, `${more} nodes ${nodes}`);
  const byNodes = { lineCount: 1, nodes: 100, movetimeMs: 1000 };

  test.each([
    ["exactly at the node limit is not complete", [counted(1, 100)], [], 1],
    ["at the node limit is complete if the next depth begins", [counted(1, 100), counted(2, 101)], [1], 1],
    [
      "above the node limit is complete if the next depth has only a bound",
      [counted(1, 120), counted(2, 130, "upperbound")],
      [1],
      1,
    ],
    ["below the node limit is complete", [counted(1, 99)], [1], 1],
    ["twice at or above the node limit is not complete", [counted(1, 100), counted(1, 101)], [], 1],
  ])("an iteration that ends %s", (_, lines, depths, last) => {
    const { complete, final } = foldOf(lines, byNodes);
    expect(depthsOf(complete)).toEqual(depths);
    expect(final).toMatchObject({ depth: last, complete: depths.length > 0 });
  });

  test("an iteration is not complete if it ends after the search was ended early", () => {
    const fold = createSnapshotFold({ ...byNodes, reports: "iterations" });
    const add = (text: string) => {
      const parsed = parseLine(text);
      return parsed.kind === "info" ? fold.add(parsed.info) : expect.fail("no info");
    };
    expect(add(counted(1, 100))).toBeUndefined();
    fold.close();
    expect(add(counted(2, 101))).toBeUndefined();
    expect(fold.final()).toMatchObject({ depth: 2, complete: false });
  });

  test.each([
    ["follows", [moving(2)], 1],
    ["of the same depth follows", [moving(1)], undefined],
    ["does not follow", [], undefined],
  ])(
    "an iteration that needs a proof is complete after the stop command only if a line of the next depth follows: %s",
    (_, lines, depth) => {
      const fold = createSnapshotFold({ ...limits, nodes: undefined, reports: "iterations" });
      const add = (text: string) => {
        const parsed = parseLine(text);
        return parsed.kind === "info" ? fold.add(parsed.info) : expect.fail("no info");
      };
      [moving(1), line(1, 1), line(1, 2)].map(add);
      fold.close();
      lines.map(add);
      const final = fold.final();
      expect(final?.complete ? final.depth : undefined).toBe(depth);
    },
  );

  test("a line without counters keeps the previous counters", () => {
    const { final } = foldOf(["info nodes 7 nps 8 hashfull 9 tbhits 10 time 11", line(1, 1)], limits);
    expect(final?.counters).toEqual({ nodes: 7, nps: 8, hashfull: 9, tbhits: 10, timeMs: 5 });
  });

  test("a reported snapshot does not change", () => {
    const { complete } = foldOf([line(1, 1), line(1, 2), line(2, 1), line(2, 2)], limits);
    expect(complete[0]?.lines.map(({ depth }) => depth)).toEqual([1, 1]);
  });
});

describe("an engine that reports a tree", () => {
  const tree: Limits = { lineCount: 2, nodes: 100, movetimeMs: 1000, reports: "tree" };
  const report = (depth: number, nodes: number, rank = 1, time = 5) =>
    `info depth ${depth} seldepth 3 time ${time} nodes ${nodes} score cp 19 wdl 632 0 368 multipv ${rank} pv e2e4`;

  test.each([
    ["ends at its nodes", [report(2, 140), report(2, 140, 2)]],
    ["ends after its time", [report(2, 50, 1, 2000), report(2, 50, 2, 2000)]],
    ["reports different depths", [report(3, 50), report(2, 50, 2)]],
  ])("a report is complete if the search %s", (_, lines) => {
    const { complete, final } = foldOf(lines, tree);
    expect(complete).toHaveLength(1);
    expect(final).toMatchObject({ complete: true, lines: { length: 2 } });
  });

  test("every report of the same depth is a snapshot, and the newest is the result", () => {
    const { complete, final } = foldOf(
      [10, 20, 30].flatMap((n) => [report(1, n), report(1, n, 2)]),
      tree,
    );
    expect(complete.map(({ counters }) => counters.nodes)).toEqual([10, 20, 30]);
    expect(final?.counters.nodes).toBe(30);
  });

  test("a tree with fewer moves than requested lines is a complete result", () => {
    const { complete, final } = foldOf([report(1, 1)], tree);
    expect(complete).toEqual([]);
    expect(final).toMatchObject({ complete: true, lines: { length: 1 } });
  });

  test("a line without its predecessors is ignored", () => {
    expect(foldOf([report(1, 1, 2)], tree).final).toBeUndefined();
  });
});
