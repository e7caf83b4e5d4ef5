import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { Snapshot } from "../../src/engine/engine.ts";
import { createSnapshotFold, parseLine } from "../../src/engine/uci/parse-line.ts";
import { createSearchLines } from "../../src/engine/uci/search.ts";
import { createRandom } from "../support/random.ts";

interface Limits {
  readonly lineCount: number;
  readonly movetimeMs: number;
}

/** Folds lines, and tells what was complete on the way and at the end. */
function foldOf(lines: readonly string[], limits: Limits) {
  const fold = createSnapshotFold(limits);
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
/** What a real engine printed; `recorded/record.ts` made the files. */
const textOf = (name: string) => readFileSync(`${recorded}/${name}.txt`, "utf8");

function foldRecorded(name: string, limits: Limits) {
  return foldOf(textOf(name).split("\n"), limits);
}

const depthsOf = (snapshots: readonly Snapshot[]) => snapshots.map(({ depth }) => depth);
const firstMovesOf = (snapshot: Snapshot | undefined) => snapshot?.lines.map(({ moves }) => moves[0]);

describe("what Stockfish printed, searching three lines to depth 6", () => {
  test.each([
    ["stockfish-15.1", ["e1g1", "b1d2", "b2b3"], 4089],
    ["stockfish-19-lite", ["b1d2", "e1g1", "b2b3"], 4005],
  ])("%s: every iteration is complete, the last one is the answer", (engine, moves, nodes) => {
    const { complete, final } = foldRecorded(`${engine}-multipv3-depth6`, {
      lineCount: 3,
      movetimeMs: 60_000,
    });
    expect(depthsOf(complete)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(complete.map(({ lines }) => lines.length)).toEqual([3, 3, 3, 3, 3, 3]);
    expect(final).toEqual(complete.at(-1));
    expect(firstMovesOf(final)).toEqual(moves);
    expect(final?.counters.nodes).toBe(nodes);
  });

  test("a line is as it was printed", () => {
    const { final } = foldRecorded("stockfish-15.1-multipv3-depth6", { lineCount: 3, movetimeMs: 60_000 });
    expect(final?.lines[2]).toEqual({
      depth: 6,
      seldepth: 6,
      score: { value: { kind: "cp", cp: -13 }, bound: "exact", wdl: { win: 4, draw: 982, loss: 14 } },
      moves: ["b2b3", "h7h6", "c1a3", "c5d4"],
    });
  });
});

describe("what Stockfish printed when 60 ms were over", () => {
  const limits = { lineCount: 3, movetimeMs: 60 };

  test("an iteration broken off, with the lines of the one before among its own, is left out", () => {
    const { complete, final } = foldRecorded("stockfish-15.1-movetime60", limits);
    expect(depthsOf(complete)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(firstMovesOf(final)).toEqual(["e1g1", "b2b3", "f3e5"]);
  });

  test("an iteration that is nothing but old lines under a new depth is left out", () => {
    const { complete, final } = foldRecorded("stockfish-19-lite-movetime60", limits);
    expect(depthsOf(complete)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(firstMovesOf(final)).toEqual(["b1d2", "e1g1", "b2b3"]);
  });

  test("an iteration that was printed half before and half after the limit is left out", () => {
    const { complete, final } = foldRecorded("stockfish-19-movetime60", limits);
    expect(depthsOf(complete)).toEqual([1, 2, 3]);
    expect(firstMovesOf(final)).toEqual(["b1d2", "b2b3", "e1g1"]);
  });

  test("the lines are those of the newest complete iteration, the counters those of the whole search", () => {
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

describe("what Stockfish printed when 1 ms was over", () => {
  test.each([
    ["stockfish-15.1", 3, 5, ["e1g1", "c5d4"]],
    ["stockfish-19-lite", 1, 1, ["a2a3"]],
  ])("%s: without a complete iteration, line 1 is as last printed", (engine, lineCount, depth, moves) => {
    const { complete, final } = foldRecorded(`${engine}-movetime1`, { lineCount, movetimeMs: 1 });
    expect(complete).toEqual([]);
    expect(final).toMatchObject({ complete: false, depth, lines: [{ depth, moves }] });
    expect(final?.lines).toHaveLength(1);
  });
});

test("a score with a bound is no state: the engine is about to try again at the same depth", () => {
  const { complete, final } = foldRecorded("stockfish-15.1-bounds", { lineCount: 1, movetimeMs: 60_000 });
  expect(complete.map(({ depth, lines: [line] }) => [depth, line?.score.bound, line?.score.value])).toEqual([
    [25, "exact", { kind: "cp", cp: 3 }],
    [26, "exact", { kind: "cp", cp: 10 }],
    [27, "exact", { kind: "cp", cp: 18 }],
  ]);
  expect(final?.lines[0]?.moves).toHaveLength(29);
});

describe("lines made up", () => {
  const limits = { lineCount: 2, movetimeMs: 1000 };
  const line = (depth: number, multipv: number, more = "") =>
    `info depth ${depth} multipv ${multipv} score cp 1 ${more} time 5 pv e2e4`;

  test("nothing gives nothing", () => {
    expect(foldOf([], limits)).toEqual({ complete: [], final: undefined });
    expect(foldOf(["info depth 1", "info nodes 5"], limits).final).toBeUndefined();
  });

  test.each([
    ["depth", "info score cp 1 pv e2e4"],
    ["score", "info depth 3 pv e2e4"],
    ["moves", "info depth 3 score cp 1"],
  ])("a line without %s is none", (_, without) => {
    expect(foldOf([without], { ...limits, lineCount: 1 })).toEqual({ complete: [], final: undefined });
  });

  test.each([
    ["the second line is missing", [line(1, 1), line(2, 1)]],
    ["the first line is missing", [line(1, 2), line(2, 2)]],
    ["the second line is of another depth", [line(2, 1), line(1, 2)]],
    ["the second line has only a bound", [line(1, 1), line(1, 2, "upperbound")]],
    ["the first line has only a bound", [line(1, 1, "lowerbound"), line(1, 2)]],
    ["a line comes twice", [line(1, 1), line(1, 3), line(1, 1)]],
  ])("an iteration is not complete when %s", (_, lines) => {
    expect(foldOf(lines, limits).complete).toEqual([]);
  });

  test("an iteration that is printed again, line by line, counts when it is whole", () => {
    const lines = [line(1, 1), line(1, 1), line(1, 2)];
    expect(depthsOf(foldOf(lines, limits).complete)).toEqual([1]);
  });

  test("lines that more than were asked for are left out", () => {
    const { complete } = foldOf([line(1, 1), line(1, 2), line(1, 3)], limits);
    expect(complete.map(({ lines }) => lines.length)).toEqual([2]);
  });

  test("an engine without multipv, seldepth and wdl is understood", () => {
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

  test("counters stay when a line does not tell them", () => {
    const { final } = foldOf(["info nodes 7 nps 8 hashfull 9 tbhits 10 time 11", line(1, 1)], limits);
    expect(final?.counters).toEqual({ nodes: 7, nps: 8, hashfull: 9, tbhits: 10, timeMs: 5 });
  });

  test("a state does not change after it was reported", () => {
    const { complete } = foldOf([line(1, 1), line(1, 2), line(2, 1), line(2, 2)], limits);
    expect(complete[0]?.lines.map(({ depth }) => depth)).toEqual([1, 1]);
  });
});

describe("lines that are kept", () => {
  const recordings = globSync("*.txt", { cwd: recorded }).map((file) => file.replace(/\.txt$/, ""));
  const { pick } = createRandom(14);
  /** An iteration in which things may go wrong: a rank left out, bounds, late times, a depth too few, no line, no counters. */
  const iteration = (depth: number) =>
    [1, 2, 3].flatMap((rank) => {
      const bound = pick(["", "", "", " upperbound"]);
      const counters = pick([
        " nodes 5 nps 6 hashfull 7 tbhits 8",
        " nodes 9 nps 9 hashfull 9 tbhits 9",
        " nodes 4",
      ]);
      const line = `info depth ${depth - pick([0, 0, 0, 0, 1])} multipv ${rank} score cp ${depth}${bound}${counters} time ${pick([1, 2, 3, 99])}`;
      return pick([
        [`${line} pv e2e4`],
        [`${line} pv d2d4`],
        [`${line} pv a2a3`],
        [`${line} pv b2b3`],
        [line],
        [],
      ]);
    });
  const streams = [
    ...recordings.map((name) => textOf(name).split("\n")),
    ...Array.from({ length: 100 }, () => Array.from({ length: 12 }, (_, at) => iteration(at + 1)).flat()),
  ];
  const infoOf = (text: string) => {
    const line = parseLine(text);
    return line.kind === "info" ? [line.info] : [];
  };

  test.each([1, 2, 3])("say at any time what they say read one by one, with %i lines", (lineCount) => {
    const limits = { lineCount, movetimeMs: 60 };
    let complete = 0;
    for (const stream of streams) {
      const read = createSnapshotFold(limits);
      let newest: Snapshot | undefined;
      for (const [at, text] of stream.entries()) {
        for (const info of infoOf(text)) {
          newest = read.add(info) ?? newest;
        }
        const kept = createSearchLines(limits);
        stream.slice(0, at + 1).forEach(kept.keep);
        expect(kept.final(), stream.join("\n")).toEqual(read.final());
        // Also of those that were not enough to tell.
        expect(kept.readKept()).toEqual(newest);
        expect(kept.final()).toEqual(read.final());
      }
      complete += Number(newest !== undefined);
    }
    expect(complete).toBeGreaterThan(20);
  });

  test("say the same where there are more than are kept", () => {
    const limits = { lineCount: 3, movetimeMs: 60 };
    const [kept, read] = [createSearchLines(limits), createSnapshotFold(limits)];
    for (const text of Array.from({ length: 400 }, (_, at) => iteration(at + 1)).flat()) {
      kept.keep(text);
      infoOf(text).forEach(read.add);
    }
    expect(read.final()?.complete).toBe(true);
    expect(kept.final()).toEqual(read.final());
  });

  test("are read on from where somebody wants to know", () => {
    const limits = { lineCount: 2, movetimeMs: 60 };
    const lines = createSearchLines(limits);
    const add = (text: string) => infoOf(text).map(lines.add).at(-1);
    const line = (depth: number, rank: number) => `info depth ${depth} multipv ${rank} score cp 1 pv e2e4`;
    for (const text of [line(1, 1), line(1, 2), line(2, 1)]) {
      lines.keep(text);
    }
    expect(lines.readKept()?.depth).toBe(1);
    expect(add(line(2, 2))?.depth).toBe(2);
    expect(lines.final()?.depth).toBe(2);
  });
});
