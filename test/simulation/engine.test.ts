import { expect, test } from "vitest";
import type { EngineSession, SearchDone, SearchJob } from "../../src/engine/engine.ts";
import { positionOf, startFen } from "../chess/validated.ts";
import { createClock } from "./clock.ts";
import { createSimulatedEngines, type EngineWatch, type SimulatedBuild } from "./engine.ts";
import type { EngineFault } from "./engine-faults.ts";
import { createRandom } from "./random.ts";
import { textOfPosition, truthOf } from "./truth.ts";

// The sessions of these tests have the real clock: none of their time limits passes.

const build: SimulatedBuild = {
  id: "stockfish-19",
  version: "19",
  net: "full",
  path: "native",
  settings: { hashMb: 16, threads: 1 },
};

const job: SearchJob = {
  position: positionOf(startFen),
  depth: 10,
  nodes: undefined,
  movetimeMs: 60_000,
  multipv: 1,
  searchMoves: [],
  options: {},
};

const unwatched: EngineWatch = { trace() {}, count() {}, violation: (text) => expect.fail(text) };

/** Runs the virtual clock until the work has ended. */
async function withEngines<T>(
  faults: readonly EngineFault[],
  work: (start: () => Promise<EngineSession>) => Promise<T>,
  watch = unwatched,
): Promise<T> {
  const clock = createClock();
  const { signal } = new AbortController();
  const reader = clock.process("node 1");
  const engines = createSimulatedEngines({
    ...{ node: 1, reader, builds: [build], faults, clock, random: createRandom(1), watch },
  });
  let isOver = false;
  const result = reader.run(async () => {
    try {
      const [backend] = engines.backends;
      const [found] = (await backend?.discover(signal)) ?? [];
      if (backend === undefined || found === undefined) {
        return expect.fail("no engine was found");
      }
      await clock.time.sleep(60_000);
      return await work(() => backend.start(found, signal));
    } finally {
      isOver = true;
    }
  });
  await clock.run(() => isOver);
  return result;
}

const withSession = <T>(faults: readonly EngineFault[], work: (session: EngineSession) => Promise<T>) =>
  withEngines(faults, async (start) => {
    await using session = await start();
    return await work(session);
  });

const search = (session: EngineSession, other: Partial<SearchJob> = {}): Promise<SearchDone> =>
  session.search({ ...job, ...other }, new AbortController().signal);

test("a simulated engine answers as the truth says if the depth or the nodes end the search", async () => {
  const random = createRandom("jobs");
  const positions = [
    job.position,
    positionOf(startFen, { moves: ["e2e4", "e7e5", "g1f3"] }),
    positionOf("r1bqkb1r/pp3ppp/2n1pn2/2pp4/3P4/2PBPN2/PP3PPP/RNBQK2R w KQkq - 0 6"),
    positionOf("7k/8/8/8/8/8/R7/1R4K1 w - - 0 1"),
    positionOf("8/8/8/4k3/8/8/4P3/4K3 w - - 0 1"),
  ];
  await withSession([], async (session) => {
    for (let count = 0; count < 100; count++) {
      const position = random.pick(positions);
      const limits = {
        depth: random.chance(0.6) ? 1 + random.int(16) : undefined,
        nodes: random.chance(0.6) ? Math.round(10 ** random.between(0, 5)) : 100_000,
        multipv: random.pick([1, 1, 3]),
        searchMoves: position === job.position && random.chance(0.3) ? ["a2a3", "e2e4", "g1f3"] : [],
      };
      const { snapshot, bestMove, ponder, endedBy } = await search(session, { ...limits, position });
      const { answersOf, hashMb, chess960 } = { answersOf: build.id, hashMb: 16, chess960: false };
      const question = { ...limits, answersOf, hashMb, chess960, position: textOfPosition(position) };
      const { iteration, unfinished, ...whole } = truthOf(question).whole(limits);
      expect({ endedBy, bestMove, ponder, nodes: snapshot.counters.nodes }).toEqual(whole);
      expect(snapshot.complete).toBe(iteration !== undefined);
      const lines = snapshot.lines.map(({ depth, score, moves }) => ({ depth, score: score.value, moves }));
      expect(lines).toEqual(iteration?.lines ?? unfinished?.lines.slice(0, 1));
    }
  });
});

const always = { node: 1, atMs: 30_000, forMs: 1e9, times: 1 };

test.each<readonly [EngineFault, string]>([
  [{ ...always, kind: "engine dies", during: "searching", afterMs: 1 }, "exited"],
  [{ ...always, kind: "engine is killed", during: "searching", afterMs: 1 }, "killed"],
  [{ ...always, kind: "engine floods", during: "searching", afterMs: 1 }, "flooded"],
  [{ ...always, kind: "engine dies at a position", fen: startFen, afterMs: 1 }, "exited"],
  [{ ...always, kind: "engine answers nonsense", what: "illegal move" }, "protocol_error"],
  [{ ...always, kind: "engine answers nonsense", what: "illegal line" }, "protocol_error"],
  [{ ...always, kind: "engine answers nonsense", what: "no move" }, "protocol_error"],
  [{ ...always, kind: "engine answers nonsense", what: "critical error" }, "protocol_error"],
])("the fault %o of a simulated engine makes a search fail with %s", async (fault, kind) => {
  await withSession([fault], async (session) => {
    await expect(search(session)).rejects.toMatchObject({ kind });
  });
});

test("it is a violation if the server ends many new engines, but not if these engines flood", async () => {
  const flood: EngineFault = { ...always, times: 10, kind: "engine floods", during: "idle", afterMs: 1 };
  const violations: string[] = [];
  const watch = { ...unwatched, violation: (text: string) => void violations.push(text) };
  const kinds = await withEngines(
    [flood],
    async (start) => {
      const sessions = await Promise.all(Array.from({ length: 10 }, start));
      return await Promise.all(sessions.map(async ({ exited }) => (await exited)?.kind));
    },
    watch,
  );
  expect([new Set(kinds), violations]).toEqual([new Set(["flooded"]), []]);
  await withEngines(
    [],
    async (start) => {
      for (let count = 0; count < 6; count++) {
        await (await start())[Symbol.asyncDispose]();
      }
    },
    watch,
  );
  expect(violations).toEqual(["node 1 has started 6 engines for nothing in 10000 ms"]);
});
