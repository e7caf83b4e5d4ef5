import { Chess } from "chess.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { describeMove, describeVariation } from "../../src/chess/moves.ts";
import type { ScoreValue } from "../../src/chess/score.ts";
import type {
  EngineBackend,
  EngineBuild,
  EngineSession,
  SearchDone,
  SearchProgress,
} from "../../src/engine/engine.ts";
import { preferredFamily, profileOf } from "../../src/engine/profiles.ts";
import { defaultWatchTimes, type WatchTimes } from "../../src/engine/uci/watch.ts";
import { startFen } from "../chess/validated.ts";
import { eventsOf, jobOf, underWay } from "../engine/job-of.ts";
import { enginesRunning, stillRunning } from "../engine/processes.ts";
import { patienceMs } from "../support/patience.ts";
import { chess960, middleGame, repeatable, testDeterminism, withoutClock } from "./determinism.ts";

interface BackendUnderTest {
  readonly pickBuild: (builds: readonly EngineBuild[]) => EngineBuild | undefined;
  /** The depth in plies of a search that takes some tens of milliseconds. An engine without depth searches as many nodes. */
  readonly depth: number;
  /** The family of the engine, whose profile says what the engine promises. */
  readonly family?: string;
}

const forever = new AbortController().signal;
// Long timeouts: on a busy machine, a healthy engine may respond late.
const patient: WatchTimes = { ...defaultWatchTimes, unresponsiveMs: 20_000, stopMs: 10_000 };

const standardPositions = [
  startFen,
  middleGame,
  // White can castle to both sides.
  "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
  "rnbqkbnr/ppp1pppp/8/8/3pP3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 3",
  "1n2k3/P6p/8/8/8/8/7p/4K3 w - - 0 1",
];

/** Defines the tests that every backend must pass. Tests of response times are in `backend-times.ts`. */
export function testBackend(
  name: string,
  createBackend: (times: WatchTimes) => EngineBackend,
  { pickBuild, depth, family = preferredFamily }: BackendUnderTest,
): void {
  describe(name, () => {
    const backend = createBackend(patient);
    const profile = profileOf(family);
    const usual = profile.hasDepth ? { depth } : { depth: undefined, nodes: depth };
    /** A search that only its time or its caller ends. */
    const endless = { depth: profile.deepest, nodes: undefined };
    let build: EngineBuild;
    let session: EngineSession;

    beforeAll(async () => {
      const found = pickBuild(await backend.discover(forever));
      build = found ?? expect.fail("the build was not found");
      session = await backend.start(build, forever);
    });
    afterAll(async () => {
      await session?.[Symbol.asyncDispose]();
      expect(enginesRunning(), "engines left behind").toEqual([]);
    });

    const search = (changes: Parameters<typeof jobOf>[0] = {}, on = session) =>
      on.search(jobOf({ ...usual, ...changes }), forever);
    const firstValue = async (fen: string) => (await search({ fen })).snapshot.lines[0]?.score.value;

    test(`${name} discovers its build with id, path and digest`, async () => {
      expect(build.path).toBe(backend.path);
      expect(build.family).toBe(family);
      expect(build.id).toMatch(/^[a-z0-9][a-z0-9.-]*$/);
      expect(build.sha256).toMatch(/^[0-9a-f]{64}$/);
    });

    test(`${name} starts an engine with the name of its build and the options that callers may set`, () => {
      // The fast WebAssembly builds leave out the words that the builds of the npm package add, such as `WASM`.
      expect(session.info.name).toMatch(profile.reported);
      expect(build.name).toContain(session.info.name);
      expect(session.info.author).not.toBe("");
      expect(build).toMatchObject({
        author: session.info.author,
        options: session.info.options,
        linesMax: session.info.linesMax,
      });
      expect(session.info.options.map((option) => [option.name, option.kind])).toEqual(
        profile.callersOptions.map(({ name, type }) => [name, type === "spin" ? "integer" : "boolean"]),
      );
      expect(session.alive).toBe(true);
    });

    test(`${name} returns a complete result with different first moves when its usual limit ends a search`, async () => {
      const { snapshot, bestMove, endedBy } = await search({ fen: middleGame, multipv: 3 });
      expect(endedBy).toBe(profile.hasDepth ? "depth" : "nodes");
      expect(snapshot).toMatchObject({ complete: true, lines: { length: 3 } });
      expect(new Set(snapshot.lines.map(({ moves }) => moves[0])).size).toBe(3);
      expect(snapshot.lines[0]?.score.wdl).toBeDefined();
      replay(middleGame, [bestMove]);
    });

    test(`${name} returns a complete result when time ends a search`, async () => {
      const done = await search({ fen: middleGame, ...endless, movetimeMs: 1000 });
      expect(done).toMatchObject({ endedBy: "time", snapshot: { complete: true } });
    });

    test(`${name} searches only the moves that the request names, in standard chess and in Chess960`, async () => {
      const { snapshot, bestMove } = await search({
        fen: middleGame,
        multipv: 5,
        searchMoves: ["a2a3", "d1a4", "e1g1"],
      });
      const moves = snapshot.lines.map((line) => line.moves[0] ?? "");
      expect(moves.toSorted()).toEqual(["a2a3", "d1a4", "e1g1"]);
      expect(bestMove).toBe(moves[0]);
      const fen = "rk2r3/pppppppp/8/8/8/8/PPPPPPPP/RK2R3 w EAea - 0 1";
      const castles = await search({ fen, searchMoves: ["b1e1"] });
      expect(castles.bestMove).toBe("b1e1");
    });

    test(`${name} answers with legal moves only`, async () => {
      for (const fen of standardPositions) {
        const { bestMove, ponder, snapshot } = await search({ fen, multipv: 2 });
        const lines = [...snapshot.lines.map(({ moves }) => moves), ponder ? [bestMove, ponder] : [bestMove]];
        for (const moves of lines) {
          replay(fen, moves);
        }
      }
    });

    test(`${name} reads and writes Chess960 castling as a capture of the own rook by the king`, async () => {
      const job = jobOf({ ...chess960, ...usual });
      expect(job.position.moves).toEqual(["b1e1"]);
      const { bestMove, snapshot } = await session.search(job, forever);
      expect(describeMove(job.position, bestMove)?.uci).toBe(bestMove);
      const moves = snapshot.lines[0]?.moves ?? [];
      expect(describeVariation(job.position, moves, 0).moves).toEqual(moves);
    });

    if (profile.hasDepth) {
      test(`${name} reports snapshots of growing depth, and then one result at the requested depth`, async () => {
        const events = await eventsOf(session, jobOf({ fen: middleGame, depth }), forever);
        const depths = events.filter(({ kind }) => kind === "progress").map(({ snapshot }) => snapshot.depth);
        expect(depths.length).toBeGreaterThan(0);
        expect(depths).toEqual([...new Set(depths)].toSorted((a, b) => a - b));
        expect(events.map(({ kind }) => kind)).toEqual([...depths.map(() => "progress"), "done"]);
        for (const { snapshot } of events) {
          expect(snapshot.complete).toBe(true);
          expect(snapshot.lines).toMatchObject([{ depth: snapshot.depth, score: { bound: "exact" } }]);
          expect(snapshot.counters.nodes).toBeGreaterThan(0);
        }
        const done = events.at(-1) as SearchDone;
        expect(done).toMatchObject({ endedBy: "depth", snapshot: { depth } });
        expect(done.bestMove).toBe(done.snapshot.lines[0]?.moves[0]);
      });

      test(`${name} returns the requested number of lines with different first moves, the best line first`, async () => {
        const { snapshot } = await search({ fen: middleGame, multipv: 3 });
        expect(snapshot).toMatchObject({ depth, complete: true });
        expect(new Set(snapshot.lines.map(({ moves }) => moves[0])).size).toBe(3);
        const values = snapshot.lines.map(({ score }) => comparable(score.value));
        expect(values).toEqual(values.toSorted((a, b) => b - a));
      });

      test(`${name} returns one line for each legal move if the position has fewer moves than the requested lines`, async () => {
        const fen = "6k1/R7/8/8/8/8/8/1R4K1 b - - 0 1";
        const { snapshot, endedBy } = await search({ fen, multipv: 5 });
        expect(snapshot.lines.map(({ moves }) => moves[0]).toSorted()).toEqual(["g8f8", "g8h8"]);
        expect({ endedBy, complete: snapshot.complete }).toEqual({ endedBy: "depth", complete: true });
      });

      test.each([
        ["castling", "4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", 26],
        ["promotion", "8/P6k/8/8/8/8/5q2/7K w - - 0 1", 4],
      ])(`${name} can search positions with very many legal moves: %s`, async (_, fen, moves) => {
        expect(jobOf({ fen }).position.legalMoveCount).toBe(moves);
        const { snapshot } = await search({ fen, multipv: 200, depth: 2 });
        expect(new Set(snapshot.lines.map((line) => line.moves[0])).size).toBe(moves);
      });

      test(`${name} returns the last complete depth when the time limit ends a search`, async () => {
        const movetimeMs = 100;
        const startedAt = performance.now();
        const done = await search({ fen: middleGame, depth: 245, movetimeMs });
        expect(done).toMatchObject({ endedBy: "time", snapshot: { complete: true } });
        expect(done.snapshot.depth).toBeLessThan(245);
        // A search that ends much earlier has not used its time.
        expect(performance.now() - startedAt).toBeGreaterThan(movetimeMs / 2);
      });

      test(`${name} returns the last complete depth when the node limit ends a search`, async () => {
        const nodes = 3000;
        const { endedBy, snapshot } = await search({ fen: middleGame, depth: undefined, nodes, multipv: 2 });
        expect({ endedBy, complete: snapshot.complete }).toEqual({ endedBy: "nodes", complete: true });
        expect(snapshot.counters.nodes).toBeGreaterThanOrEqual(nodes);
        // An engine compares its node count with the limit only after every thousandth node.
        expect(snapshot.counters.nodes).toBeLessThan(1.1 * nodes);
        expect(snapshot.lines).toMatchObject([
          { depth: snapshot.depth, score: { bound: "exact" } },
          { depth: snapshot.depth, score: { bound: "exact" } },
        ]);
        const shallow = await search({ fen: middleGame, depth: 2, nodes: 1_000_000 });
        expect(shallow).toMatchObject({ endedBy: "depth", snapshot: { depth: 2, complete: true } });
      });

      test(`${name} returns a line and a legal move even if the node limit is too low for depth 1`, async () => {
        for (const [nodes, multipv] of [
          [1, 1],
          [1, 3],
          [30, 3],
        ] as const) {
          const done = await search({ fen: middleGame, depth: undefined, nodes, multipv });
          expect(done.endedBy).toBe("nodes");
          expect(done.snapshot.depth).toBeLessThanOrEqual(2);
          expect(done.snapshot.lines).toHaveLength(done.snapshot.complete ? multipv : 1);
          replay(middleGame, [done.bestMove]);
        }
      });

      test(`${name} stops at a forced mate even if the node limit is not reached`, async () => {
        const fen = "6k1/R7/8/8/8/8/8/1R4K1 w - - 0 1";
        const { endedBy, bestMove, snapshot } = await search({ fen, depth: undefined, nodes: 1_000_000 });
        expect({ endedBy, bestMove }).toEqual({ endedBy: "depth", bestMove: "b1b8" });
        expect(snapshot.counters.nodes).toBeLessThan(1_000_000);
      });

      test(`${name} uses the history of the game, so it scores a third repetition as a draw`, async () => {
        const moves = ["a2a3", "h8g8", "a3a2", "g8h8", "a2a3", "h8g8", "a3a2"];
        const drawn = await search({ fen: "7k/8/8/8/8/8/R7/1R4K1 w - - 0 1", moves });
        expect(drawn.bestMove).toBe("g8h8");
        expect(drawn.snapshot.lines[0]?.score.value).toEqual({ kind: "cp", cp: 0 });
        expect(comparable(await firstValue("6k1/8/8/8/8/8/R7/1R4K1 b - - 7 4"))).toBeLessThan(-300);
      });
    }

    if (profile.selfTest.mate) {
      test.each([
        ["6k1/R7/8/8/8/8/8/1R4K1 w - - 0 1", "b1b8"],
        ["1r4k1/8/8/8/8/8/r7/6K1 b - - 0 1", "b8b1"],
      ])(
        `${name} reports a mate as a mate score from the view of the side to move: %s`,
        async (fen, move) => {
          const { bestMove, snapshot } = await search({ fen });
          expect(bestMove).toBe(move);
          expect(snapshot.lines[0]?.score.value).toEqual({ kind: "mate", mate: 1 });
        },
      );

      test(`${name} reports scores from the view of the side to move`, async () => {
        const board = "4k3/pppp4/8/8/8/8/PPPP4/3QK3";
        expect(comparable(await firstValue(`${board} w - - 0 1`))).toBeGreaterThan(300);
        expect(comparable(await firstValue(`${board} b - - 0 1`))).toBeLessThan(-300);
      });
    }

    if (profile.isReproducible) {
      testDeterminism(name, () => ({ backend, build, session }), depth);

      test(`${name} returns the same result with and without a progress callback`, async () => {
        for (const changes of [{ depth }, { depth, multipv: 3 }, { depth: 245, movetimeMs: 300 }]) {
          const done = await session.search(jobOf({ fen: middleGame, ...changes }), forever);
          expect(done.snapshot).toMatchObject({ complete: true, lines: { length: changes.multipv ?? 1 } });
          if (changes.depth === depth) {
            const events = await eventsOf(session, jobOf({ fen: middleGame, ...changes }), forever);
            expect(withoutClock(done)).toEqual(withoutClock(events.at(-1) as SearchDone));
          }
        }
        const caller = new AbortController();
        const states: SearchProgress[] = [];
        const recordState = (progress: SearchProgress) => states.push(progress);
        const long = session.search(jobOf({ depth: 245 }), caller.signal, recordState);
        await expect.poll(() => states.length, { timeout: patienceMs }).toBeGreaterThan(2);
        caller.abort(new Error("left"));
        await expect(long).rejects.toThrow("left");
      });

      test(`${name} can run the next search right after a client has disconnected`, async () => {
        const job = jobOf({ fen: middleGame, depth });
        const undisturbed = await repeatable(session, job);
        const caller = new AbortController();
        const long = jobOf({ fen: startFen, depth: 245 });
        const { answer } = await underWay((onProgress) => session.search(long, caller.signal, onProgress));
        caller.abort(new Error("left"));
        await expect(answer).rejects.toThrow("left");
        expect(await repeatable(session, job)).toEqual(undisturbed);
      });
    }

    test(`${name} can run a search after a client has disconnected`, async () => {
      const caller = new AbortController();
      const long = jobOf({ fen: startFen, ...endless });
      const { answer } = await underWay((onProgress) => session.search(long, caller.signal, onProgress));
      caller.abort(new Error("left"));
      await expect(answer).rejects.toThrow("left");
      replay(middleGame, [(await search({ fen: middleGame })).bestMove]);
    });

    test(`${name} reports a killed process as killed and not as crashed`, async () => {
      const before = enginesRunning();
      await using victim = await backend.start(build, forever);
      const pids = enginesRunning().filter((pid) => !before.includes(pid));
      expect(pids).toHaveLength(1);
      const long = jobOf(endless);
      const { answer } = await underWay((onProgress) => victim.search(long, forever, onProgress));
      for (const pid of pids) {
        process.kill(pid, "SIGKILL");
      }
      await expect(answer).rejects.toMatchObject({ name: "EngineFailure", kind: "killed" });
      expect(await victim.exited).toMatchObject({ kind: "killed" });
      expect(victim.alive).toBe(false);
    });

    test(`${name} leaves no process running after an aborted start or a closed session`, async () => {
      const before = enginesRunning();
      const caller = new AbortController();
      const starting = backend.start(build, caller.signal);
      starting.catch(() => {});
      const pids = enginesRunning().filter((pid) => !before.includes(pid));
      expect(pids).toHaveLength(1);
      caller.abort(new Error("left"));
      await expect(starting).rejects.toThrow("left");
      expect(stillRunning(pids)).toEqual([]);
      {
        await using closed = await backend.start(build, forever);
        expect(closed.alive).toBe(true);
      }
      expect(enginesRunning()).toEqual(before);
    });
  });
}

function comparable(value: ScoreValue | undefined): number {
  if (value === undefined) {
    return expect.fail("no score");
  }
  return value.kind === "cp" ? value.cp : Math.sign(value.mate) * 100_000 - value.mate;
}

/** Throws if a move is illegal. Uses chess.js, which shares no code with the service. */
function replay(fen: string, moves: readonly string[]): void {
  const chess = new Chess(fen);
  expect(moves.length).toBeGreaterThan(0);
  for (const move of moves) {
    const [from, to, promotion] = [move.slice(0, 2), move.slice(2, 4), move.slice(4)];
    chess.move(promotion ? { from, to, promotion } : { from, to });
  }
}
