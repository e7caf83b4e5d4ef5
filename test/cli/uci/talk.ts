import { create, type DescMessage, type Message, type MessageInitShape } from "@bufbuild/protobuf";
import { expect } from "vitest";
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
import type { ApiOption } from "../../../src/cli/engine-option.ts";
import { createSession, type SearchRequest } from "../../../src/cli/uci/session.ts";
import { KibitzError } from "../../../src/errors/errors.ts";
import { wait } from "../../engine/clock.ts";

export const declared: readonly ApiOption[] = [
  { name: "skill_level", engineName: "Skill Level", kind: "integer", default: 20, minimum: 0, maximum: 20 },
  { name: "uci_limit_strength", engineName: "UCI_LimitStrength", kind: "boolean", default: false },
  { name: "uci_elo", engineName: "UCI_Elo", kind: "integer", default: 1320, minimum: 1320, maximum: 3190 },
  { name: "uci_chess960", engineName: "UCI_Chess960", kind: "boolean", default: false },
];

interface ScriptedSearch {
  readonly request: SearchRequest;
  readonly signal: AbortSignal;
  find(message: StreamEvaluateResponse): void;
  end(): void;
  fail(error: unknown): void;
}

/** A UCI session without an engine. The test controls the clock. */
interface Talk {
  /** All searches, oldest first. */
  readonly searches: readonly ScriptedSearch[];
  readonly over: Promise<void>;
  /** Sends the lines. Resolves with the output since the previous call. */
  hear(...lines: readonly string[]): Promise<readonly string[]>;
  /** Advances the clock by `ms`. Resolves with the new output. */
  hearWithin(ms: number): Promise<readonly string[]>;
  hangUp(): void;
  last(): ScriptedSearch;
}

export function talk({ hasDepth = true } = {}): Talk {
  const heard: string[] = [];
  const searches: ScriptedSearch[] = [];
  const session = createSession({
    engine: { name: "Stockfish 19", author: "the Stockfish developers", options: declared, hasDepth },
    watch(request, signal) {
      return new ReadableStream<StreamEvaluateResponse>({
        start(stream) {
          searches.push({
            request,
            signal,
            find: (message) => stream.enqueue(message),
            end: () => stream.close(),
            fail: (error) => stream.error(error),
          });
        },
      });
    },
    say: (line) => heard.push(line),
    version: "1.2.3",
    overheadMs: 30,
  });
  return {
    searches,
    over: session.over,
    async hear(...lines) {
      lines.forEach(session.receive);
      await wait(0);
      return heard.splice(0);
    },
    async hearWithin(ms) {
      await wait(ms);
      return heard.splice(0);
    },
    hangUp: session.close,
    last: () => searches.at(-1) ?? expect.fail("no search was started"),
  };
}

export const bestOf = (heard: readonly string[]) => heard.filter((line) => line.startsWith("bestmove"));
export const notesOf = (heard: readonly string[]) => heard.filter((line) => line.startsWith("info string"));
export const overloaded = (retryAfterMs?: number) =>
  new KibitzError("overloaded", "busy", retryAfterMs === undefined ? {} : { retryAfterMs });

type Init<S extends DescMessage> = Exclude<MessageInitShape<S>, Message>;
type Score = Init<typeof ScoreSchema>;

interface Evaluation {
  readonly score?: Score;
  readonly search?: Init<typeof SearchSchema>;
  readonly lines?: Init<typeof LineSchema>[];
}

export const centipawns = (value: number): Score => ({ value: { case: "cp", value }, bound: Bound.EXACT });
export const mateIn = (value: number): Score => ({ value: { case: "mate", value }, bound: Bound.EXACT });

const evaluated = (value: Evaluation & { readonly bestMove?: object; readonly ponder?: object }) =>
  create(StreamEvaluateResponseSchema, { event: { case: "evaluation", value } });

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

export const done = (
  depth: number,
  moves: readonly string[],
  stopReason: StopReason = StopReason.DEPTH,
  { search, ...more }: Evaluation = {},
) => stateOf(depth, moves, { search: { stopReason, ...search }, ...more });

export const gameOver = (score: Score) => evaluated({ score, search: { stopReason: StopReason.TERMINAL } });
