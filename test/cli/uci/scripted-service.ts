import { create, type DescMessage, type Message, type MessageInitShape } from "@bufbuild/protobuf";
import {
  Bound,
  type LineSchema,
  type ScoreSchema,
  type SearchSchema,
  StopReason,
} from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import {
  type StreamEvaluateResponse,
  StreamEvaluateResponseSchema,
} from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import type { EngineOption } from "../../../src/cli/engine-option.ts";
import type { Introduction, SearchRequest, SearchService } from "../../../src/cli/uci/search-service.ts";

/** As Stockfish declares them. */
export const declared: readonly EngineOption[] = [
  { name: "skill_level", engineName: "Skill Level", kind: "integer", default: 20, minimum: 0, maximum: 20 },
  { name: "uci_limit_strength", engineName: "UCI_LimitStrength", kind: "boolean", default: false },
  { name: "uci_elo", engineName: "UCI_Elo", kind: "integer", default: 1320, minimum: 1320, maximum: 3190 },
  { name: "uci_chess960", engineName: "UCI_Chess960", kind: "boolean", default: false },
];

/** One search as the test lets it go. */
export interface ScriptedSearch {
  readonly request: SearchRequest;
  readonly signal: AbortSignal;
  find(message: StreamEvaluateResponse): void;
  end(): void;
  fail(error: unknown): void;
}

export interface ScriptedService extends SearchService {
  /** Those that were asked for, in their order. */
  readonly searches: readonly ScriptedSearch[];
}

export function createScriptedService(
  introduction: Promise<Introduction> = Promise.resolve({
    name: "Stockfish 19",
    author: "the Stockfish developers",
    options: declared,
  }),
): ScriptedService {
  const searches: ScriptedSearch[] = [];
  return {
    searches,
    introduce: () => introduction,
    watch(request, signal) {
      const { stream, ...script } = scriptedStream();
      searches.push({ request, signal, ...script });
      return stream;
    },
  };
}

function scriptedStream() {
  const steps: (() => StreamEvaluateResponse | undefined)[] = [];
  let awake = Promise.withResolvers<void>();
  const step = (next: () => StreamEvaluateResponse | undefined) => {
    steps.push(next);
    awake.resolve();
  };
  async function* run(): AsyncGenerator<StreamEvaluateResponse> {
    for (;;) {
      await awake.promise;
      awake = Promise.withResolvers();
      for (const next of steps.splice(0)) {
        const message = next();
        if (message === undefined) {
          return;
        }
        yield message;
      }
    }
  }
  return {
    stream: run(),
    find: (message: StreamEvaluateResponse) => step(() => message),
    end: () => step(() => undefined),
    fail: (error: unknown) =>
      step(() => {
        throw error;
      }),
  };
}

type Init<S extends DescMessage> = Exclude<MessageInitShape<S>, Message>;
type Score = Init<typeof ScoreSchema>;

interface Evaluation {
  readonly score?: Score;
  readonly search?: Init<typeof SearchSchema>;
  readonly lines?: Init<typeof LineSchema>[];
}

export const centipawns = (value: number): Score => ({ value: { case: "cp", value }, bound: Bound.EXACT });
export const mateIn = (value: number): Score => ({ value: { case: "mate", value }, bound: Bound.EXACT });

export const queued = (place: number, expectedWaitMs: number) =>
  create(StreamEvaluateResponseSchema, { event: { case: "queued", value: { place, expectedWaitMs } } });

const evaluated = (value: Evaluation & { readonly bestMove?: object; readonly ponder?: object }) =>
  create(StreamEvaluateResponseSchema, { event: { case: "evaluation", value } });

/** A complete iteration with one line. */
export function stateOf(
  depth: number,
  moves: readonly string[],
  { score = centipawns(20), search, ...more }: Evaluation = {},
): StreamEvaluateResponse {
  const [best, ponder] = moves;
  return evaluated({
    score,
    lines: [{ depth, seldepth: depth + 2, score, moves: [...moves] }],
    search: { depth, nodes: BigInt(100 * depth), nps: 1000n, timeMs: 10 * depth, hashfull: depth, ...search },
    ...(best !== undefined && { bestMove: { uci: best } }),
    ...(ponder !== undefined && { ponder: { uci: ponder } }),
    ...more,
  });
}

/** The last iteration of a search. */
export const done = (
  depth: number,
  moves: readonly string[],
  stopReason: StopReason = StopReason.DEPTH,
  { search, ...more }: Evaluation = {},
) => stateOf(depth, moves, { search: { stopReason, ...search }, ...more });

/** The answer for a game that is over. */
export const gameOver = (score: Score) => evaluated({ score, search: { stopReason: StopReason.TERMINAL } });
