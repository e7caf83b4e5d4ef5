import type { Score } from "../../../src/chess/score.ts";
import type {
  Analyst,
  Finding,
  Introduction,
  OptionOfEngine,
  Question,
  State,
} from "../../../src/cli/uci/analyst.ts";

/** As Stockfish declares them. */
export const declared: readonly OptionOfEngine[] = [
  { name: "skill_level", engineName: "Skill Level", kind: "integer", default: 20, minimum: 0, maximum: 20 },
  { name: "uci_limit_strength", engineName: "UCI_LimitStrength", kind: "boolean", default: false },
  { name: "uci_elo", engineName: "UCI_Elo", kind: "integer", default: 1320, minimum: 1320, maximum: 3190 },
  { name: "uci_chess960", engineName: "UCI_Chess960", kind: "boolean", default: false },
];

/** One search as the test lets it go. */
export interface ScriptedSearch {
  readonly question: Question;
  readonly signal: AbortSignal;
  find(finding: Finding): void;
  end(): void;
  fail(error: unknown): void;
}

export interface ScriptedAnalyst extends Analyst {
  /** Those that were asked for, in their order. */
  readonly searches: readonly ScriptedSearch[];
}

export function createScriptedAnalyst(
  introduction: Promise<Introduction> = Promise.resolve({
    name: "Stockfish 19",
    author: "the Stockfish developers",
    options: declared,
  }),
): ScriptedAnalyst {
  const searches: ScriptedSearch[] = [];
  return {
    searches,
    introduce: () => introduction,
    watch(question, signal) {
      const { stream, ...script } = scriptedStream();
      searches.push({ question, signal, ...script });
      return stream;
    },
  };
}

function scriptedStream() {
  const steps: (() => Finding | undefined)[] = [];
  let awake = Promise.withResolvers<void>();
  const step = (next: () => Finding | undefined) => {
    steps.push(next);
    awake.resolve();
  };
  async function* run(): AsyncGenerator<Finding> {
    for (;;) {
      await awake.promise;
      awake = Promise.withResolvers();
      for (const next of steps.splice(0)) {
        const finding = next();
        if (finding === undefined) {
          return;
        }
        yield finding;
      }
    }
  }
  return {
    stream: run(),
    find: (finding: Finding) => step(() => finding),
    end: () => step(() => undefined),
    fail: (error: unknown) =>
      step(() => {
        throw error;
      }),
  };
}

export const centipawns = (cp: number): Score => ({
  value: { kind: "cp", cp },
  bound: "exact",
  wdl: undefined,
});
export const mateIn = (mate: number): Score => ({
  value: { kind: "mate", mate },
  bound: "exact",
  wdl: undefined,
});

/** A state with one line. */
export function stateOf(depth: number, moves: readonly string[], more: Partial<State> = {}): Finding {
  const score = more.score ?? centipawns(20);
  return {
    kind: "state",
    state: {
      depth,
      best: moves[0],
      ponder: moves[1],
      score,
      lines: [{ depth, seldepth: depth + 2, score, moves }],
      nodes: 100 * depth,
      nps: 1000,
      timeMs: 10 * depth,
      hashfull: depth,
      tbhits: 0,
      ended: undefined,
      ...more,
    },
  };
}

/** The last state of a search. */
export const done = (
  depth: number,
  moves: readonly string[],
  ended: State["ended"] = "depth",
  more: Partial<State> = {},
): Finding => stateOf(depth, moves, { ended, ...more });
