import { AnalysisService } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import type { MoveName } from "../../calls/rulebook.ts";
import type { Caller, Plain } from "./caller.ts";
import { type PlainScore, scoreText } from "./score.ts";
import { listOf, nullable, objectSchema, type Report, type Schema } from "./tool.ts";

/** The methods that evaluate positions. */
export const { evaluate: evaluateMethod, streamEvaluate: streamMethod } = AnalysisService.method;

/** The end of a game. Plain JSON has null for the winner of a draw. */
interface GameOver {
  readonly reason: string;
  readonly winner?: "white" | "black" | null | undefined;
  readonly result: string;
}

/** An evaluation in plain JSON, as far as it is read here. */
export interface PlainEvaluation {
  readonly fen: string;
  readonly engine: { readonly name: string } | null;
  readonly score: PlainScore;
  readonly best_move: MoveName | null;
  readonly lines: readonly PlainLine[];
  readonly terminal: GameOver | null;
  readonly draw_claimable: string | null;
  readonly search: {
    readonly depth: number;
    readonly nodes: number;
    readonly limits: { readonly depth: number | null };
  };
  readonly warnings: readonly { readonly code: string; readonly message: string }[];
  readonly summary: string;
}

export interface PlainLine {
  readonly rank: number;
  readonly score: PlainScore;
  readonly moves: readonly string[];
  readonly san: readonly string[];
}

interface PlainQueued {
  readonly place: number;
}

/** Evaluates a position, and reports each depth if `report` is given. */
export async function evaluate(request: Plain, caller: Caller, report?: Report): Promise<PlainEvaluation> {
  if (report === undefined) {
    // Plain JSON has every field of the message.
    return (await caller.once(evaluateMethod, request)) as PlainEvaluation;
  }
  let last: PlainEvaluation | undefined;
  /** Progress has to rise, by the specification: a depth comes twice if the search ends during the next one. */
  let reported = -1;
  let isQueued = false;
  for await (const event of caller.stream(streamMethod, request)) {
    const { queued, evaluation } = event as {
      queued: PlainQueued | null;
      evaluation: PlainEvaluation | null;
    };
    if (queued && !isQueued) {
      isQueued = true;
      reported = 0;
      report({ progress: 0, message: `waiting for an engine, place ${queued.place}` });
    }
    if (evaluation) {
      last = evaluation;
      const { depth, limits } = evaluation.search;
      if (depth <= reported) {
        continue;
      }
      reported = depth;
      const best = evaluation.best_move ? `, ${evaluation.best_move.san}` : "";
      report({
        progress: depth,
        ...(limits.depth !== null && { total: limits.depth }),
        message: `depth ${depth}: ${scoreText(evaluation.score)}${best}`,
      });
    }
  }
  if (last === undefined) {
    throw new Error("a search ended without a state");
  }
  return last;
}

const text = { type: "string" };
const integer = { type: "integer" };
const side = { type: "string", enum: ["white", "black"] };

/** The schemas of results that several tools have. */
export const schema = {
  text,
  integer,
  number: { type: "number" },
  side,
  fen: { ...text, description: "Six fields, as it can be sent back." },
  board: { ...text, description: "White below; upper case is White." },
  move: objectSchema({ san: text, uci: text }),
  score: objectSchema({
    text: { ...text, description: "With its side: White +1.35, Black mates in 3." },
    cp: { type: ["integer", "null"], description: "Centipawns, + is White's." },
    mate: { type: ["integer", "null"], description: "Moves to mate, + is White's." },
    win_percent: { type: "number", description: "White's chances, 0 to 100." },
  }),
  gameOver: nullable(objectSchema({ reason: text, winner: nullable(text), result: text })),
  warnings: listOf(text),
} satisfies Record<string, Schema>;

export function shownScore(score: PlainScore): Plain {
  const { cp, mate, win_percent } = score;
  return { text: scoreText(score), cp, mate, win_percent };
}

export function shownMove(move: MoveName | null): Plain | null {
  return move && { san: move.san, uci: move.uci };
}

export function shownEnd(end: GameOver | null | undefined): Plain | null {
  return end ? { reason: end.reason, winner: end.winner ?? null, result: end.result } : null;
}

/** Warnings and draw claims, one a line. */
export function notesText(
  warnings: readonly string[],
  drawClaim: string | null | undefined,
): string | undefined {
  const claim = drawClaim ? [`A draw can be claimed: ${drawClaim.replaceAll("_", " ")}.`] : [];
  const notes = [...claim, ...warnings];
  return notes.length === 0 ? undefined : notes.map((note) => `Note: ${note}`).join("\n");
}
