import { expect, test } from "vitest";
import type {
  EngineBackend,
  EngineBuild,
  EngineSession,
  SearchDone,
  SearchJob,
} from "../../src/engine/engine.ts";
import { startFen } from "../chess/validated.ts";
import { jobOf } from "../engine/job-of.ts";

export const middleGame = "r1bqkb1r/pp3ppp/2n1pn2/2pp4/3P4/2PBPN2/PP3PPP/RNBQK2R w KQkq - 0 6";

/** A Chess960 position after White has castled. Black is to move. */
export const chess960 = {
  fen: "rk2r3/pppppppp/8/8/8/8/PPPPPPPP/RK2R3 w EAea - 0 1",
  moves: ["b1e1"],
  chess960: true,
};

const forever = new AbortController().signal;

interface Started {
  readonly backend: EngineBackend;
  readonly build: EngineBuild;
  readonly session: EngineSession;
}

/**
 * Defines tests that repeat a search and expect the same result. A search of `depth` plies must take some tens of milliseconds.
 */
export function testDeterminism(name: string, started: () => Started, depth: number): void {
  const searchFor = (changes: Parameters<typeof jobOf>[0]) =>
    started().session.search(jobOf({ depth, ...changes }), forever);

  test(`${name} returns the same result again after other searches and on another engine process`, async () => {
    const { backend, build, session } = started();
    const job = jobOf({ fen: middleGame, depth });
    const first = await repeatable(session, job);
    expect(await repeatable(session, job)).toEqual(first);
    const others = [
      { depth: depth - 2, options: { skill_level: 3 } },
      { depth: depth - 2, options: { uci_limit_strength: true, uci_elo: 1500 } },
      { depth: depth - 4, multipv: 5 },
      { depth: depth - 2, ...chess960 },
      { movetimeMs: 30, depth: 245 },
    ];
    for (const other of others) {
      await searchFor({ fen: middleGame, ...other });
      expect(await repeatable(session, job), JSON.stringify(other)).toEqual(first);
    }
    await using fresh = await backend.start(build, forever);
    expect(await repeatable(fresh, job)).toEqual(first);
  });

  test(`${name} returns the same result again if a node limit ends the search`, async () => {
    const { backend, build, session } = started();
    const limits = { fen: middleGame, depth: undefined, nodes: 3000 };
    const jobs = [
      jobOf(limits),
      jobOf({ ...limits, nodes: 1 }),
      jobOf({ ...limits, nodes: 777, multipv: 3 }),
      jobOf({ ...limits, searchMoves: ["a2a3", "h2h3"] }),
    ];
    const allOn = async (on: EngineSession, some: readonly SearchJob[]) => {
      const answers: unknown[] = [];
      for (const job of some) {
        answers.push(await repeatable(on, job));
      }
      return answers;
    };
    const first = await allOn(session, jobs);
    await searchFor({ fen: startFen, movetimeMs: 30, depth: 245 });
    const backwards = await allOn(session, jobs.toReversed());
    expect(backwards.toReversed()).toEqual(first);
    await using fresh = await backend.start(build, forever);
    expect((await allOn(fresh, jobs.toReversed())).toReversed()).toEqual(first);
  });

  test(`${name} uses the configured hash size at every depth`, async () => {
    const { backend, build } = started();
    const fullness = async (hashMb: number, plies: number) => {
      await using engine = await backend.start(
        { ...build, settings: { ...build.settings, hashMb } },
        forever,
      );
      const { snapshot } = await engine.search(jobOf({ fen: middleGame, depth: plies }), forever);
      return snapshot.counters.hashfull;
    };
    for (const plies of [10, 12]) {
      expect(await fullness(1, plies)).toBeGreaterThan(await fullness(16, plies));
    }
  });

  test(`${name} returns the same result if the engine was idle before the search`, async () => {
    const { session } = started();
    const job = jobOf({ fen: middleGame, depth });
    const first = await repeatable(session, job);
    await searchFor({ fen: middleGame, multipv: 2, options: { skill_level: 3 } });
    await expect.poll(() => session.state).toBe("idle");
    expect(await repeatable(session, job)).toEqual(first);
  });
}

export async function repeatable(session: EngineSession, job: SearchJob): Promise<unknown> {
  return withoutClock(await session.search(job, forever));
}

export function withoutClock({ snapshot, ...done }: SearchDone): unknown {
  const { nps, timeMs, ...counters } = snapshot.counters;
  return { ...done, snapshot: { ...snapshot, counters } };
}
