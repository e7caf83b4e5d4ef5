import { copyFileSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Analysis, SearchResult, ValidatedRequest } from "../../src/analysis/analysis.ts";
import { createAnalyzer } from "../../src/analysis/analyzer.ts";
import { createLookUpTables } from "../../src/analysis/apply-tablebase.ts";
import { createScheduler } from "../../src/analysis/scheduler.ts";
import type { SearchEvent } from "../../src/engine/engine.ts";
import { createMemoryCache } from "../../src/storage/memory/cache.ts";
import type { AnswerStore } from "../../src/storage/ports.ts";
import { openTablebase, type Tablebase } from "../../src/tablebase/tablebase.ts";
import { createTimeSlicer } from "../../src/thread/time-slices.ts";
import { positionOf } from "../chess/validated.ts";
import { tablesFolder, verifyTables } from "../support/tables.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";
import { doneOf, lineOf, scripted, snapshotOf, validated } from "./made-up.ts";

const folder = useTemporaryFolder();
let tablebase: Tablebase;
beforeAll(async () => {
  tablebase = await openTablebase([tablesFolder]);
  await verifyTables(tablebase);
});
afterAll(() => tablebase[Symbol.asyncDispose]());

const never = new AbortController().signal;
const beginWork = createTimeSlicer();
const unexpected = (error: unknown) => expect.fail(String(error));

interface Nodes {
  readonly tables?: Pick<Tablebase, "mayKnow" | "probe" | "compareMoves"> | undefined;
  readonly store?: AnswerStore<SearchResult>;
  readonly onError?: (error: unknown) => void;
}

/** A node whose engine reports `events`. */
function nodeOf(
  events: readonly SearchEvent[],
  { tables = tablebase, store, onError = unexpected }: Nodes = {},
) {
  const { search, jobs } = scripted(...events);
  const analyzer = createAnalyzer({
    search,
    hasRoom: () => false,
    scheduler: createScheduler({ slots: 1, maxWaitMs: 60_000 }),
    cache: createMemoryCache<SearchResult>({ bytes: 1e6 }),
    store,
    movetimeMaxMs: 9000,
    lookUpTables: createLookUpTables({ tablebase: tables, beginWork, maxWaitMs: 200, onError }),
  });
  const analyze = (request: ValidatedRequest) => analyzer.analyze(request, "somebody", never);
  const statesOf = async (request: ValidatedRequest) => {
    const events = await Array.fromAsync(analyzer.follow(request, "somebody", never));
    return events.flatMap((event) => (event.kind === "state" ? [event.analysis] : []));
  };
  return { analyze, statesOf, jobs };
}

const snapshot = (moves: readonly string[], depth = 14) => snapshotOf({ depth, lines: [lineOf(moves)] });

function engineOf(moves: readonly string[], best = moves[0] ?? ""): readonly SearchEvent[] {
  return [doneOf({ snapshot: snapshot(moves), bestMove: best, ponder: moves[1] })];
}

const codesOf = ({ warnings }: Analysis) => warnings.map(({ code }) => code);

/** The black king attacks the rook. Every move of the white king loses the rook. */
const rookHangs = "8/8/8/3k4/4R3/8/8/K7 w - - 0 1";
const rookMove = /^e4/;

describe("the endgame tables", () => {
  test("the endgame tables say the result, and the engine's move stays if it keeps the result", async () => {
    const analysis = await nodeOf(engineOf(["e4e1", "d5d4"])).analyze(validated({ fen: rookHangs }));
    expect(analysis.tablebase).toEqual({
      category: "win",
      winner: "white",
      dtzPlies: expect.any(Number),
      men: 3,
    });
    expect([analysis.best?.uci, analysis.ponder?.uci, codesOf(analysis)]).toEqual(["e4e1", "d5d4", []]);
  });

  test("the endgame tables replace a move that gives the result away, with a warning and without a reply", async () => {
    const analysis = await nodeOf(engineOf(["a1a2", "d5e4"])).analyze(validated({ fen: rookHangs }));
    expect(analysis.best?.uci).toMatch(rookMove);
    expect([analysis.ponder, codesOf(analysis)]).toEqual([undefined, ["best_move_from_tablebase"]]);
    expect(analysis.warnings[0]?.message).toContain("Ka2");
    expect(analysis.lines).toMatchObject([{ moves: ["a1a2", "d5e4"], score: { value: { cp: 30 } } }]);
    expect(analysis.score.value).toEqual({ kind: "cp", cp: 30 });
  });

  test("a replaced move that was newer than the lines is not also said to be beyond the lines", async () => {
    const analysis = await nodeOf(engineOf(["e4e1"], "a1a2")).analyze(validated({ fen: rookHangs }));
    expect(codesOf(analysis)).toEqual(["best_move_from_tablebase"]);
  });

  test("the best move is among the moves to search, even if all of them give the win away", async () => {
    const restricted = (searchMoves: readonly string[]) =>
      nodeOf(engineOf(["a1a2"])).analyze(validated({ fen: rookHangs, searchMoves }));
    expect((await restricted(["a1a2", "a1b1", "e4h4"])).best?.uci).toBe("e4h4");
    const lost = await restricted(["a1a2", "a1b1"]);
    expect([lost.best?.uci, codesOf(lost), lost.tablebase?.category]).toEqual(["a1a2", [], "win"]);
  });

  test("a weakened engine plays its own move, and the result of the tables is said nevertheless", async () => {
    const analysis = await nodeOf(engineOf(["a1a2"])).analyze(validated({ fen: rookHangs, weakened: true }));
    expect([analysis.best?.uci, codesOf(analysis)]).toEqual(["a1a2", []]);
    expect(analysis.tablebase?.category).toBe("win");
  });

  test("a repetition that would cost the win is avoided", async () => {
    const shuffle = ["h1h2", "d5d4", "h2h1", "d4d5"];
    const fen = "8/8/8/3k4/8/8/8/K6R w - - 0 1";
    const played = (moves: readonly string[]) =>
      nodeOf(engineOf(["h1h2"])).analyze(validated({ position: positionOf(fen, { moves }) }));
    expect((await played([])).best?.uci).toBe("h1h2");
    const third = await played([...shuffle, ...shuffle]);
    expect([third.best?.uci === "h1h2", codesOf(third)]).toEqual([false, ["best_move_from_tablebase"]]);
  });

  test("each state of a stream has a move that keeps the result", async () => {
    const events: readonly SearchEvent[] = [
      { kind: "progress", snapshot: snapshot(["a1b1"], 3) },
      { kind: "progress", snapshot: snapshot(["e4h4"], 4) },
      ...engineOf(["a1b1"]),
    ];
    const states = await nodeOf(events).statesOf(validated({ fen: rookHangs }));
    expect(states.at(-1)?.stopReason).toBe("depth");
    for (const { best, tablebase: known } of states) {
      expect([best?.uci.slice(0, 2), known?.category]).toEqual(["e4", "win"]);
    }
  });

  test.each([
    ["a finished game", "k7/1Q6/1K6/8/8/8/8/8 b - - 0 1"],
    ["a position with more men than the tables", "4k3/8/8/8/8/8/4P3/R3K3 w - - 0 1"],
  ])("the tables are not read for %s", async (_, fen) => {
    const probe = vi.fn(tablebase.probe);
    const node = nodeOf(engineOf(["e1d1"]), { tables: { ...tablebase, probe } });
    expect((await node.analyze(validated({ fen }))).tablebase).toBeUndefined();
    expect(probe).not.toHaveBeenCalled();
  });

  test("an analysis waits at most 200 ms for a table that is being verified", async () => {
    const tables: Nodes["tables"] = {
      ...tablebase,
      probe: (_position, { signal } = {}) =>
        new Promise((resolve) => {
          signal?.addEventListener("abort", () =>
            resolve({ kind: "miss", reason: "unverified_table", message: "is being verified" }),
          );
        }),
    };
    const begunAt = performance.now();
    const analysis = await nodeOf(engineOf(["e4e1"]), { tables }).analyze(validated({ fen: rookHangs }));
    expect(performance.now() - begunAt).toBeGreaterThan(190);
    expect([analysis.tablebase, analysis.best?.uci]).toEqual([undefined, "e4e1"]);
  });

  test("a later state of a search has the result of tables that were verified after an earlier state", async () => {
    const verified = Promise.withResolvers<void>();
    const probe: Tablebase["probe"] = (position, options = {}) =>
      Promise.race([
        verified.promise.then(() => tablebase.probe(position, options)),
        new Promise<Awaited<ReturnType<Tablebase["probe"]>>>((resolve) => {
          options.signal?.addEventListener("abort", () =>
            resolve({ kind: "miss", reason: "unverified_table", message: "is being verified" }),
          );
        }),
      ]);
    const lookUp = createLookUpTables({
      tablebase: { ...tablebase, probe },
      beginWork,
      maxWaitMs: 1,
      onError: unexpected,
    });
    const request = validated({ fen: rookHangs });
    const analysis = await nodeOf(engineOf(["a1a2"]), { tables: await openTablebase([]) }).analyze(request);
    const withTables = lookUp(request);
    expect((await withTables(analysis)).tablebase).toBeUndefined();
    verified.resolve();
    await vi.waitFor(async () => {
      const later = await withTables(analysis);
      expect([later.tablebase?.category, codesOf(later)]).toEqual(["win", ["best_move_from_tablebase"]]);
    });
  });

  test("nothing is said if the engine's move cannot be checked, because a best move must not give a result away", async () => {
    const compareMoves = () => async () =>
      ({ kind: "miss", reason: "no_table", message: "there is no table" }) as const;
    const node = nodeOf(engineOf(["a1a2"]), { tables: { ...tablebase, compareMoves } });
    const analysis = await node.analyze(validated({ fen: rookHangs }));
    expect([analysis.tablebase, analysis.best?.uci]).toEqual([undefined, "a1a2"]);
  });

  test("an error of the tables is reported, and the analysis is the engine's alone", async () => {
    const error = new Error("the disk is gone");
    const errors: unknown[] = [];
    const probe = () => Promise.reject(error);
    const node = nodeOf(engineOf(["a1a2"]), {
      tables: { ...tablebase, probe },
      onError: (thrown) => errors.push(thrown),
    });
    const analysis = await node.analyze(validated({ fen: rookHangs }));
    expect([analysis.tablebase, analysis.best?.uci]).toEqual([undefined, "a1a2"]);
    expect(errors).toEqual([error]);
  });
});

describe("a kept answer", () => {
  function recordingStore() {
    const kept = new Map<string, string>();
    const store: AnswerStore<SearchResult> = {
      get: (key) => JSON.parse(kept.get(key) ?? "null") ?? undefined,
      set: (key, result) => void kept.set(key, JSON.stringify(result)),
      [Symbol.dispose]() {},
    };
    return { kept, store };
  }

  test("what is stored is the engine's answer alone, the same with and without tables", async () => {
    const events = engineOf(["a1a2", "d5e4"]);
    const request = validated({ fen: rookHangs });
    const [own, others] = [recordingStore(), recordingStore()];
    await using none = await openTablebase([]);
    await nodeOf(events, { store: own.store }).analyze(request);
    await nodeOf(events, { store: others.store, tables: none }).analyze(request);
    expect(own.kept.size).toBe(1);
    expect([...own.kept]).toEqual([...others.kept]);
  });

  test("nodes whose tables have the same digest give the same analysis, and the digest differs if a table does", async () => {
    const names = readdirSync(tablesFolder).filter(
      (name) => name.endsWith(".rtbw") || name.endsWith(".rtbz"),
    );
    const [copy, part] = [join(folder, "copy"), join(folder, "part")];
    for (const to of [copy, part]) {
      mkdirSync(to);
      for (const name of names.filter((one) => to === copy || !one.startsWith("KPvK"))) {
        copyFileSync(join(tablesFolder, name), join(to, name));
      }
    }
    await using copied = await openTablebase([copy]);
    await using fewer = await openTablebase([part]);
    await verifyTables(copied);
    expect(copied.summary()).toEqual(tablebase.summary());
    expect(fewer.summary()?.digest).not.toBe(tablebase.summary()?.digest);
    for (const moves of [["a1a2", "d5e4"], ["e4e1"]]) {
      const [own, other] = [nodeOf(engineOf(moves)), nodeOf(engineOf(moves), { tables: copied })];
      const request = validated({ fen: rookHangs });
      const withoutTime = async (node: typeof own) => ({ ...(await node.analyze(request)), queueMs: 0 });
      expect(await withoutTime(own)).toEqual(await withoutTime(other));
    }
  });

  test("a kept answer gets the tables of the node that gives it", async () => {
    const events = engineOf(["a1a2", "d5e4"]);
    const request = validated({ fen: rookHangs });
    const { store } = recordingStore();
    await using none = await openTablebase([]);
    const without = nodeOf(events, { store, tables: none });
    const first = await without.analyze(request);
    const node = nodeOf(events, { store });
    const kept = await node.analyze(request);
    expect([kept.cached, kept.tablebase?.category, codesOf(kept)]).toEqual([
      true,
      "win",
      ["best_move_from_tablebase"],
    ]);
    const again = await without.analyze(request);
    expect({ ...again, cached: false }).toEqual(first);
    expect(node.jobs).toEqual([]);
  });
});
