import type { AnalysisRequest, ValidatedRequest } from "../../src/analysis/analysis.ts";
import type { KnownEngines } from "../../src/analysis/validate-request.ts";
import { validatePosition } from "../../src/chess/validate-position.ts";
import { createCatalog } from "../../src/engine/catalog.ts";
import type {
  EngineBuild,
  EngineLine,
  SearchDone,
  SearchEvent,
  SearchJob,
  Snapshot,
} from "../../src/engine/engine.ts";
import type { SearchWithRetry } from "../../src/engine/search-with-retry.ts";
import { positionOf, startFen } from "../chess/validated.ts";
import { buildOf } from "../engine/build-of.ts";

export function knownEngines(builds: readonly EngineBuild[], defaultEngine?: string): KnownEngines {
  return {
    catalog: createCatalog(builds, defaultEngine),
    validatePosition: async (input) => validatePosition(input),
    available: () => true,
  };
}

export function requestOf(overrides: Partial<AnalysisRequest> = {}): AnalysisRequest {
  return {
    fen: startFen,
    moves: [],
    depth: undefined,
    nodes: undefined,
    multipv: undefined,
    movetimeMs: undefined,
    searchMoves: [],
    engine: "latest",
    path: "auto",
    options: {},
    ...overrides,
  };
}

export function validated({
  fen = startFen,
  ...overrides
}: Partial<ValidatedRequest> & { fen?: string } = {}): ValidatedRequest {
  return {
    position: positionOf(fen),
    movesPlayed: 0,
    build: buildOf(),
    depth: 14,
    nodes: undefined,
    multipv: 1,
    movetimeMs: undefined,
    searchMoves: [],
    options: {},
    effectiveOptions: {},
    weakened: false,
    warnings: [],
    ...overrides,
  };
}

export function lineOf(moves: readonly string[], overrides: Partial<EngineLine> = {}): EngineLine {
  const wdl = { win: 100, draw: 850, loss: 50 };
  return {
    depth: 14,
    seldepth: 20,
    score: { value: { kind: "cp", cp: 30 }, bound: "exact", wdl },
    moves,
    ...overrides,
  };
}

export function snapshotOf(overrides: Partial<Snapshot> = {}): Snapshot {
  return {
    depth: 14,
    complete: true,
    lines: [lineOf(["e2e4", "e7e5"])],
    counters: { nodes: 5000, nps: 100_000, timeMs: 50, hashfull: 3, tbhits: 0 },
    ...overrides,
  };
}

export function doneOf(overrides: Partial<SearchDone> = {}): SearchDone {
  return {
    kind: "done",
    snapshot: snapshotOf(),
    bestMove: "e2e4",
    ponder: "e7e5",
    endedBy: "depth",
    ...overrides,
  };
}

/**
 * Returns a search that reports the events of `script`. The search fails when it reaches an error. `jobs` lists the requested
 * searches.
 */
export function scripted(...script: readonly (SearchEvent | Error)[]): {
  readonly search: SearchWithRetry;
  readonly jobs: readonly SearchJob[];
} {
  const jobs: SearchJob[] = [];
  return {
    jobs,
    async search(_build, job, _signal, onProgress = () => {}) {
      jobs.push(job);
      for (const event of script) {
        if (event instanceof Error) {
          throw event;
        }
        if (event.kind === "done") {
          return event;
        }
        onProgress(event);
      }
      throw new Error("the script has no answer");
    },
  };
}
