import { deepEqual, equal, match, ok } from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Chess } from "chess.js";
import fc from "fast-check";
import { expect, test } from "vitest";
import { resultFromEvent } from "../../src/analysis/analysis.ts";
import type { EngineBuild, Snapshot } from "../../src/engine/engine.ts";
import { parseLine, type UciInfo, type UciLine } from "../../src/engine/uci/parse-line.ts";
import { createSnapshotFold } from "../../src/engine/uci/snapshot-fold.ts";
import { positionOf } from "../chess/validated.ts";
import { threadMs } from "../support/thread-time.ts";
import { corpusOf } from "./corpus.ts";
import { fuzz } from "./fuzz.ts";

interface Printed {
  readonly lines: readonly string[];
  readonly lineCount: number;
  readonly nodes?: number | undefined;
  readonly movetimeMs: number;
  /** The engine prints this many lines before the time limit. */
  readonly closedAfter: number;
}

const recordedFolder = new URL("../engine/recorded/", import.meta.url);
/** The output of real engines that searched `searchedFen`. */
const recorded = readdirSync(recordedFolder)
  .filter((name) => name.endsWith(".txt"))
  .map((name) => readFileSync(new URL(name, recordedFolder), "utf8").trim().split("\n"));
const searchedFen = "r1bqkb1r/pp3ppp/2n1pn2/2pp4/3P4/2PBPN2/PP3PPP/RNBQK2R w KQkq - 0 6";
const position = positionOf(searchedFen);
const legalMoves = new Set(new Chess(searchedFen).moves({ verbose: true }).map((move) => move.lan));

const word = fc.constantFrom(
  ..."info depth seldepth multipv score cp mate lowerbound upperbound wdl nodes nps hashfull tbhits time pv string currmove bestmove ponder (none) 0000 id name author option type spin default min max uciok readyok refutation currline cpuload e2e4 d4c5 f8c5 e7e8q e1g1 NaN -1 1 2 3 5 60 CRITICAL ERROR __proto__ constructor -".split(
    " ",
  ),
);
const number = fc.oneof(
  fc.integer({ min: -3, max: 70 }),
  fc.constantFrom(
    "9".repeat(15),
    "9".repeat(16),
    "-0",
    "1e3",
    "1.5",
    "٣",
    "0x1",
    "+1",
    "",
    "00012",
    "Infinity",
  ),
);
const info = fc
  .record({
    depth: number,
    multipv: fc.oneof({ weight: 4, arbitrary: fc.integer({ min: 1, max: 4 }) }, number),
    score: fc.tuple(
      fc.constantFrom("cp", "mate", "lowerbound", ""),
      number,
      fc.constantFrom("", "", "lowerbound", "upperbound"),
    ),
    time: number,
    pv: fc.array(fc.oneof(fc.constantFrom("d4c5", "f8c5", "e1g1", "b1d2", "e2e4"), word), { maxLength: 5 }),
  })
  .map(
    ({ depth, multipv, score, time, pv }) =>
      `info depth ${depth} multipv ${multipv} score ${score.join(" ")} time ${time} pv ${pv.join(" ")}`,
  );
const line = fc.oneof(
  { weight: 4, arbitrary: info },
  { weight: 2, arbitrary: fc.constantFrom(...recorded.flat()) },
  fc.array(fc.oneof(word, number.map(String)), { maxLength: 30 }).map((words) => words.join(" ")),
  fc.string({ unit: "binary", maxLength: 60 }),
);

type Edit = (lines: readonly string[]) => readonly string[];
const at = fc.nat(40);
/** Changes the output of an engine as a broken pipe, a second engine or an unusual build would change it. */
const edit: fc.Arbitrary<Edit> = fc.oneof(
  fc.tuple(at, at).map(
    ([from, to]): Edit =>
      (lines) =>
        lines.toSpliced(to, 0, ...lines.slice(from, from + 1)),
  ),
  fc.tuple(at, fc.nat(3)).map(
    ([from, count]): Edit =>
      (lines) =>
        lines.toSpliced(from, count),
  ),
  fc.tuple(at, line).map(
    ([from, text]): Edit =>
      (lines) =>
        lines.toSpliced(from, 1, text),
  ),
  fc.tuple(at, fc.nat(200)).map(
    ([from, length]): Edit =>
      (lines) =>
        lines.map((text, index) => (index === from ? text.slice(0, length) : text)),
  ),
  fc
    .tuple(at, fc.nat(200), fc.oneof(word, number.map(String), fc.string({ unit: "binary", maxLength: 3 })))
    .map(
      ([from, place, put]): Edit =>
        (lines) =>
          lines.map((text, index) =>
            index === from ? `${text.slice(0, place)}${put}${text.slice(place + put.length)}` : text,
          ),
    ),
);

const inputs: fc.Arbitrary<Printed> = fc.record({
  lines: fc.oneof(
    {
      weight: 3,
      arbitrary: fc
        .tuple(fc.constantFrom<readonly string[]>(...recorded), fc.array(edit, { maxLength: 5 }))
        .map(([lines, edits]) => edits.reduce<readonly string[]>((some, change) => change(some), lines)),
    },
    { weight: 2, arbitrary: fc.array(line, { maxLength: 30 }) },
  ),
  lineCount: fc.integer({ min: 1, max: 4 }),
  nodes: fc.constantFrom(undefined, 1, 60, 5000),
  movetimeMs: fc.constantFrom(1, 60, 60_000),
  closedAfter: fc.oneof(fc.constant(1000), fc.nat(30)),
});

const counts = { complete: 0, incomplete: 0, none: 0, fullResults: 0 };

function check({ lines, lineCount, nodes, movetimeMs, closedAfter }: Printed): void {
  const fold = createSnapshotFold({ lineCount, nodes, movetimeMs, reports: "iterations" });
  const infos: UciInfo[] = [];
  let infosInTime = Number.POSITIVE_INFINITY;
  const reported: Snapshot[] = [];
  let newest: Snapshot | undefined;
  for (const [index, text] of lines.entries()) {
    if (index === closedAfter) {
      fold.close();
      infosInTime = infos.length;
    }
    const parsed = parseLine(text);
    checkParsed(parsed, text);
    if (parsed.kind !== "info") {
      continue;
    }
    const { info } = parsed;
    if (isLine(info)) {
      infos.push(info);
    }
    const snapshot = fold.add(info);
    if (snapshot) {
      // If several lines are searched, a late line may complete an iteration that was printed in time.
      ok(index < closedAfter || lineCount > 1, "complete after the time was up");
      checkComplete(snapshot, infos.slice(0, infosInTime), lineCount, movetimeMs);
      newest = snapshot;
      reported.push(snapshot);
    }
  }
  const final = fold.final();
  if (lineCount > 1) {
    // If several lines are searched, later output can show that an iteration was incomplete. Only the end of the output proves
    // that the last iteration is complete.
    if (final?.complete && !reported.some(({ lines }) => isDeepStrictEqual(lines, final.lines))) {
      checkComplete(final, infos.slice(0, infosInTime), lineCount, movetimeMs);
    }
    newest = final?.complete ? final : undefined;
  }
  checkFinal(final, newest, infos);
  if (final) {
    checkResult(final);
  }
}

/** A mate in no moves is no score of a search, because the game is over then. */
function isLine({ depth, score, pv }: UciInfo): boolean {
  const isOver = score?.kind === "mate" && score.mate === 0;
  return depth !== undefined && score !== undefined && !isOver && pv.length > 0;
}

function checkParsed(parsed: UciLine, text: string): void {
  switch (parsed.kind) {
    case "info": {
      const { depth, seldepth, multipv, score, wdl, nodes, nps, hashfull, tbhits, time, pv } = parsed.info;
      const numbers = [
        depth,
        seldepth,
        multipv,
        nodes,
        nps,
        hashfull,
        tbhits,
        time,
        ...Object.values(wdl ?? {}),
      ];
      for (const count of numbers) {
        ok(
          count === undefined || (Number.isSafeInteger(count) && count >= 0 && !Object.is(count, -0)),
          "no count",
        );
      }
      const value = score?.kind === "cp" ? score.cp : score?.mate;
      ok(value === undefined || (Number.isSafeInteger(value) && !Object.is(value, -0)), "no score");
      ok(pv.join(" ").length <= text.length, "longer than the line");
      break;
    }
    case "bestmove":
      for (const move of [parsed.move, parsed.ponder]) {
        match(move ?? "e2e4", /^[a-h][1-8][a-h][1-8][qrbn]?$/);
      }
      break;
    case "critical":
      ok(parsed.reason.length <= 500, "a long reason");
  }
}

/**
 * Checks the lines of a complete snapshot:
 * - All lines have the same depth, exact scores, and times within the limit.
 * - The engine printed the lines in the order of the snapshot.
 * - If the engine printed the first line several times for this depth, the snapshot has the newest version.
 */
function checkComplete(
  snapshot: Snapshot,
  infos: readonly UciInfo[],
  lineCount: number,
  movetimeMs: number,
): void {
  equal(snapshot.complete, true);
  equal(snapshot.lines.length, lineCount);
  const firsts = infos.flatMap((info, index) => ((info.multipv ?? 1) === 1 ? [index] : []));
  const isDeeper = (infos[firsts.at(-1) ?? 0]?.depth ?? 0) > snapshot.depth;
  let from = firsts.at(isDeeper ? -2 : -1) ?? 0;
  for (const [index, line] of snapshot.lines.entries()) {
    const found = infos.findIndex((info, place) => place >= from && info.pv === line.moves);
    ok(found >= from, "a line that was not printed, or not in this order");
    const info = infos[found];
    equal(info?.multipv ?? 1, index + 1);
    deepEqual([line.depth, info?.depth], [snapshot.depth, snapshot.depth]);
    deepEqual([line.score.bound, info?.bound], ["exact", "exact"]);
    ok((info?.time ?? 0) < movetimeMs, "printed when the time was up");
    deepEqual(line.score.value, info?.score);
    ok(line.moves.length > 0, "a line without moves");
    from = found + 1;
  }
}

/**
 * Checks that the final snapshot is the newest complete snapshot. If no snapshot is complete, the final snapshot must have the
 * newest first line.
 */
function checkFinal(
  final: Snapshot | undefined,
  newest: Snapshot | undefined,
  infos: readonly UciInfo[],
): void {
  const lastFirst = infos.findLast((info) => (info.multipv ?? 1) === 1);
  if (newest) {
    counts.complete++;
    deepEqual({ ...final, counters: 0 }, { ...newest, counters: 0 });
  } else if (lastFirst) {
    counts.incomplete++;
    deepEqual([final?.complete, final?.depth], [false, lastFirst.depth]);
    deepEqual(
      final?.lines.map((line) => line.moves),
      [lastFirst.pv],
    );
  } else {
    counts.none++;
    equal(final, undefined);
  }
}

/** Fails unless the moves of the result are legal. If the best move of the snapshot is illegal, expects an error. */
function checkResult(snapshot: Snapshot): void {
  const bestMove = snapshot.lines[0]?.moves[0] ?? "";
  const build = { id: "fuzzed", settings: { hashMb: 16, threads: 1 } } as EngineBuild;
  const event = {
    kind: "done",
    snapshot,
    bestMove,
    ponder: snapshot.lines[0]?.moves[1],
    endedBy: "depth",
  } as const;
  let result: ReturnType<typeof resultFromEvent>;
  try {
    result = resultFromEvent(event, { position, build, weakened: false });
  } catch (error) {
    match(String(error), /which is not legal/);
    ok(!legalMoves.has(bestMove), `${bestMove} is legal`);
    return;
  }
  counts.fullResults++;
  for (const { moves, san } of result.lines) {
    deepEqual(san, sanOf(moves));
  }
}

const known = new Map<string, readonly string[]>();

/** Throws if a move is illegal. Most lines occur often, so the results are cached. */
function sanOf(moves: readonly string[]): readonly string[] {
  const key = moves.join(" ");
  const cached = known.get(key);
  if (cached) {
    return cached;
  }
  const game = new Chess(searchedFen);
  const san = moves.map((uci) => game.move(uci).san);
  known.set(key, san);
  return san;
}

test("the UCI parser never throws and never reports an incomplete snapshot or an illegal move", () =>
  fuzz({
    name: "uci-line",
    inputs,
    check,
    corpus: corpusOf<Printed>("uci-line"),
    figures: () => JSON.stringify(counts),
  }));

test("a search that prints for hours needs no more memory than a search of a minute", () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const fold = createSnapshotFold({ lineCount: 3, nodes: undefined, movetimeMs: 1e9, reports: "iterations" });
  const lines = recorded.flat().filter((text) => text.startsWith("info"));
  const print = (count: number) => {
    for (let index = 0; index < count; index++) {
      const parsed = parseLine(`${lines[index % lines.length]} ${index}`);
      if (parsed.kind === "info") {
        fold.add(parsed.info);
      }
    }
    collect();
    return process.memoryUsage().heapUsed;
  };
  const before = print(20_000);
  expect(print(200_000) - before).toBeLessThan(4 * 1024 * 1024);
});

test.each([
  ["blanks", `info ${" ".repeat(1_000_000)}string`],
  ["one word", "a".repeat(1_000_000)],
  ["numbers", `info ${"depth 1 ".repeat(125_000)}`],
  ["moves", `info depth 1 score cp 1 pv ${"e2e4 ".repeat(200_000)}`],
  ["names", `option ${"name type default ".repeat(60_000)}`],
])("a line of a million characters needs less than a second of processor time: %s", (_, text) => {
  const before = threadMs();
  parseLine(text);
  expect(threadMs() - before).toBeLessThan(1000);
});
