import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { commandOfWasm, createWasmBackend } from "../../../src/engine/backends/wasm/index.ts";
import type { EngineSession, SearchDone, SearchEvent, Snapshot } from "../../../src/engine/engine.ts";
import { noSandbox } from "../../../src/engine/sandbox/sandbox.ts";
import { createChildProcess, type EngineCommand } from "../../../src/engine/uci/child-process.ts";
import { createUciSession } from "../../../src/engine/uci/session.ts";
import type { UciTransport } from "../../../src/engine/uci/transport.ts";
import { middleGame, withoutClock } from "../../contract/determinism.ts";
import { eventsOf, jobOf } from "../../engine/job-of.ts";
import { enginesRunning } from "../../engine/processes.ts";
import { nativeStockfish } from "../../support/native-stockfish.ts";
import { rowsWith } from "../../support/needs.ts";
import { patientTimes } from "../../support/patient-times.ts";

const forever = new AbortController().signal;
const pawnEnding = "8/8/8/4k3/8/8/4P3/4K3 w - - 0 1";
/** Black is mated in four moves. A search that is interrupted in such a position may print no last number of nodes. */
const lost = "7k/8/8/8/8/8/R7/1R4K1 b - - 0 1";
const endlessNodes = 1_000_000_000;

interface Limits {
  readonly fen?: string | undefined;
  readonly depth?: number | undefined;
  readonly nodes?: number | undefined;
  readonly movetimeMs?: number;
  readonly multipv?: number;
}

async function wasmCommand(): Promise<EngineCommand> {
  const builds = await createWasmBackend({ hashMb: 4, threads: 1 }, noSandbox).discover(forever);
  const lite = builds.find(({ net }) => net === "lite") ?? expect.fail("no lite build");
  return commandOfWasm(lite, noSandbox);
}

const rows: readonly (readonly [name: string, findCommand: () => Promise<EngineCommand>])[] = [
  ["Stockfish as WebAssembly", wasmCommand],
  ...rowsWith(["native"], [
    "Native Stockfish",
    async () => ({ file: nativeStockfish() ?? "", args: [] }),
  ] as const),
];

/** Ends each search 20 ms before its `movetime`, as engines with a move overhead do. */
function endEarly(engine: UciTransport): UciTransport {
  const shorten = (line: string) => line.replace(/movetime (\d+)/, (_, ms) => `movetime ${Number(ms) - 20}`);
  return { ...engine, send: (...lines) => engine.send(...lines.map(shorten)) };
}

/** Suspends the engine at the start of each search, and resumes the engine after 30 to 300 ms. */
function pauseAtStart(engine: UciTransport, pid: number): UciTransport {
  let searches = 0;
  return {
    ...engine,
    send(...lines) {
      if (lines.some((line) => line.startsWith("go "))) {
        process.kill(pid, "SIGSTOP");
        setTimeout(() => process.kill(pid, "SIGCONT"), 30 + ((searches++ * 37) % 270));
      }
      engine.send(...lines);
    },
  };
}

/** Tests both engines with this share of the searches that run every night. */
export function testWhySearchesEnd(share: number): void {
  const tries = (nightly: number) => Math.ceil(nightly * share);

  describe.each(rows)("%s", (name, findCommand) => {
    let command: EngineCommand;
    let honest: EngineSession;
    const opened: EngineSession[] = [];

    async function start(
      hashMb = 4,
      meddle: (engine: UciTransport, pid: number) => UciTransport = (engine) => engine,
    ): Promise<EngineSession> {
      const before = enginesRunning();
      const engine = createChildProcess(command);
      const [pid = 0] = enginesRunning().filter((one) => !before.includes(one));
      const settings = { hashMb, threads: 1 };
      const session = await createUciSession(settings, meddle(engine, pid), patientTimes, forever);
      opened.push(session);
      return session;
    }

    beforeAll(async () => {
      command = await findCommand();
      honest = await start();
    });
    afterAll(async () => {
      await Promise.all(opened.map((session) => session[Symbol.asyncDispose]()));
    });

    /** Compares results with searches that no time limit interrupts. Each of these searches runs once. */
    function truthOf(reference: EngineSession) {
      const known = new Map<string, readonly SearchEvent[]>();
      async function eventsOfWhole({
        fen = middleGame,
        depth,
        nodes,
        multipv = 1,
      }: Limits): Promise<readonly SearchEvent[]> {
        const key = `${fen} ${depth} ${nodes} ${multipv}`;
        const events =
          known.get(key) ?? (await eventsOf(reference, jobOf({ fen, depth, nodes, multipv }), forever));
        known.set(key, events);
        return events;
      }
      /** Stockfish 19 may add a reply to its last line, so this takes the iteration from a search to a larger depth. */
      async function iterationOf(limits: Limits, depth: number): Promise<Snapshot | undefined> {
        const events = await eventsOfWhole({ ...limits, nodes: undefined, depth: depth + 1 });
        return events.find(({ snapshot }) => snapshot.depth === depth)?.snapshot;
      }
      /** If the result is deterministic, compares all of it. Otherwise, compares the lines of a complete iteration. */
      return async (limits: Limits, done: SearchDone): Promise<void> => {
        if (done.endedBy === "depth" || done.endedBy === "nodes") {
          const whole = (await eventsOfWhole(limits)).at(-1) as SearchDone;
          expect(withoutClock(done)).toEqual(withoutClock(whole));
        } else if (done.snapshot.complete) {
          const { depth, lines } = done.snapshot;
          expect(lines).toEqual((await iterationOf(limits, depth))?.lines);
        }
      };
    }

    async function searchOn(
      session: EngineSession,
      { fen = middleGame, ...limits }: Limits,
    ): Promise<SearchDone> {
      return session.search(jobOf({ fen, depth: undefined, ...limits }), forever);
    }

    test.each([
      ["an unchanged engine", undefined],
      ["an engine that ends 20 ms before its own time limit", endEarly],
    ])(
      `${name} reports time and not the nodes as the end of every search that 50 ms end: %s`,
      async (_, meddle) => {
        const session = await start(4, meddle);
        const compare = truthOf(honest);
        for (let search = 0; search < tries(150); search++) {
          const limits = { fen: search % 2 ? middleGame : pawnEnding, nodes: endlessNodes, movetimeMs: 50 };
          const done = await searchOn(session, limits);
          expect(done.endedBy).toBe("time");
          await compare(limits, done);
        }
      },
    );

    test(`${name} returns only complete iterations if the engine is paused at the start of each search`, async () => {
      const session = await start(4, pauseAtStart);
      const compare = truthOf(honest);
      for (let search = 0; search < tries(60); search++) {
        const limits = { depth: 12, movetimeMs: 100, multipv: search % 2 ? 3 : 1 };
        await compare(limits, await searchOn(session, limits));
      }
    });

    test.each([
      ["depth", { depth: 10 }],
      ["nodes", { nodes: 20_000 }],
    ])(
      `${name} returns only true results if the time limit passes at the moment at which a search reaches its %s`,
      async (reason, limit) => {
        const session = await start();
        const compare = truthOf(honest);
        const tookMs: number[] = [];
        for (let search = 0; search < 9; search++) {
          const { snapshot } = await searchOn(session, limit);
          tookMs.push(snapshot.counters.timeMs);
        }
        const usualMs = tookMs.toSorted((a, b) => a - b)[4] ?? 0;
        const reasons = new Set<string>();
        for (let search = 0; search < tries(150); search++) {
          const share = 0.5 + (1.5 * search) / tries(150);
          const limits = { ...limit, movetimeMs: Math.ceil(usualMs * share) };
          const done = await searchOn(session, limits);
          reasons.add(done.endedBy);
          await compare(limits, done);
        }
        expect([...reasons].toSorted()).toEqual([reason, "time"].toSorted());
      },
    );

    test(`${name} with a hash table of 1024 MiB fails no search, and returns only complete iterations`, async () => {
      const session = await start(1024);
      const compare = truthOf(await start(1024));
      for (let search = 0; search < tries(60); search++) {
        const limits = { depth: 15, movetimeMs: 60 + 15 * (search % 17), multipv: search % 2 ? 3 : 1 };
        await compare(limits, await searchOn(session, limits));
      }
    });

    test(`${name} reports the nodes as the end of every search without a short time limit, and equal searches give equal results`, async () => {
      const session = await start();
      const compare = truthOf(honest);
      const fens = [middleGame, pawnEnding, lost];
      for (let search = 0; search < tries(1000); search++) {
        const limits = { fen: fens[search % fens.length], nodes: 500 + 250 * (search % 8) };
        const done = await searchOn(session, limits);
        expect(done.endedBy).toBe("nodes");
        await compare(limits, done);
      }
    });
  });
}
