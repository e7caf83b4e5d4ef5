import { isMessage, type Message } from "@bufbuild/protobuf";
import { Color } from "../../gen/chess/analysis/v1/analysis_pb.ts";
import {
  type EvaluateResponse,
  EvaluateResponseSchema,
  type FindBestMoveResponse,
  FindBestMoveResponseSchema,
} from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import type { GameReview, MoveReview } from "../../gen/chess/analysis/v1/game_pb.ts";
import type { Position } from "../../src/chess/position.ts";
import { validatePosition } from "../../src/chess/validate-position.ts";
import { type NodePlan, type SearchPlan, startFen } from "./scenario.ts";
import { type TrueLine, textOfPosition, truthOf } from "./truth.ts";

export type Answer = EvaluateResponse | FindBestMoveResponse;

export function isAnswer(message: Message | undefined): message is Answer {
  return isMessage(message, EvaluateResponseSchema) || isMessage(message, FindBestMoveResponseSchema);
}

/** Returns what is wrong with the answer, compared with what a whole search must answer. */
export function faultOf(answer: Answer, plan: SearchPlan, { builds }: NodePlan): string | undefined {
  const { search, engine, terminal, warnings, bestMove, ponder } = answer;
  const position = positionOf(plan);
  if (terminal || search === undefined || engine === undefined || position === undefined) {
    return terminal && position?.terminal ? undefined : "has no search, although the game is not over";
  }
  const [build] = builds;
  const { hashMb, threads } = build?.settings ?? { hashMb: 0, threads: 0 };
  const isWeakened = plan.options?.skill_level !== undefined && plan.options.skill_level !== 20;
  const isUncertain = threads > 1 || engine.name.endsWith("irreproducible") || isWeakened;
  if (isUncertain) {
    return search.deterministic ? "is called deterministic, although the engine is not" : undefined;
  }
  const { searchMoves = [] } = plan;
  const truth = truthOf({
    answersOf: engine.name,
    hashMb,
    position: textOfPosition(position),
    chess960: false,
    multipv: search.limits?.multipv ?? 1,
    searchMoves: searchMoves.length === position.legalMoveCount ? [] : searchMoves,
  });
  const isComplete = !warnings.some(({ code }) => code === "incomplete_iteration");
  const sign = answer.turn === Color.BLACK ? -1 : 1;
  const seen = answer.lines.map(({ depth, score, moves }) => textOf(depth, sign, score?.value, moves));
  const linesOf = (lines: readonly TrueLine[]) =>
    lines.map(({ depth, score, moves }) =>
      textOf(depth, 1, { case: score.kind, value: score.kind === "cp" ? score.cp : score.mate }, moves),
    );
  if (isComplete) {
    const lines = linesOf(truth.iteration(search.depth).lines);
    if (seen.join() !== lines.join()) {
      return `calls an iteration complete that is not: ${seen.join("; ")} instead of ${lines.join("; ")}`;
    }
  }
  if (!search.deterministic) {
    return undefined;
  }
  const { depth, nodes } = plan;
  const limit = depth ?? (nodes === undefined ? 14 : undefined);
  const whole = truth.whole({ depth: limit, nodes });
  const wanted = [whole.iteration?.depth ?? 1, whole.bestMove, whole.ponder, whole.nodes].join(" ");
  const got = [search.depth, bestMove?.uci, ponder?.uci, search.nodes].join(" ");
  return wanted === got ? undefined : `is called deterministic, but is ${got} instead of ${wanted}`;
}

/**
 * Returns what is wrong with the review of a game.
 * @param reviewed the moves that the client has got
 */
export function faultOfReview(
  { engine, search, startEvaluation }: GameReview,
  reviewed: readonly MoveReview[],
  {
    moves,
    depth,
    lines,
  }: { readonly moves: readonly string[]; readonly depth: number; readonly lines: number },
  { builds }: NodePlan,
): string | undefined {
  const [build] = builds;
  const { hashMb, threads } = build?.settings ?? { hashMb: 0, threads: 0 };
  if (engine === undefined || search === undefined) {
    return "has no search";
  }
  if (reviewed.length !== moves.length) {
    return `has ${reviewed.length} of ${moves.length} moves`;
  }
  if (threads > 1 || engine.name.endsWith("irreproducible")) {
    return search.deterministic ? "is called deterministic, although the engine is not" : undefined;
  }
  for (let ply = 0; ply <= moves.length; ply++) {
    const position = positionOf({ fen: startFen, moves: moves.slice(0, ply) });
    if (position === undefined || position.terminal) {
      continue;
    }
    const truth = truthOf({
      ...{ answersOf: engine.name, hashMb, chess960: false, multipv: lines, searchMoves: [] },
      position: textOfPosition(position),
    });
    // Undefined at the standard start, whose score is the same in all reviews.
    const score = ply === 0 ? startEvaluation : reviewed[ply - 1]?.evaluation;
    const line = reviewed[ply]?.best?.moves ?? [];
    const sign = ply % 2 === 0 ? 1 : -1;
    // A search that its time limit ended has fewer iterations.
    const depths = search.deterministic ? [depth] : Array.from({ length: depth }, (_, index) => index + 1);
    const isTrue = depths.some((reached) => {
      const [best] = truth.iteration(reached).lines;
      const value = best?.score.kind === "cp" ? best.score.cp : best?.score.mate;
      const isLine = (moves: readonly string[] = []) => line.every((move, index) => move === moves[index]);
      // A time limit can end the next iteration when that has found another move.
      const [next] = search.deterministic ? [] : truth.iteration(reached + 1).lines;
      return (
        (score === undefined ||
          (score.value.case === best?.score.kind && score.value.value === (value ?? 0) * sign)) &&
        (isLine(best?.moves) || (line.length === 1 && isLine(next?.moves)))
      );
    });
    if (!isTrue) {
      return `has a false evaluation after ply ${ply}: ${score?.value.case} ${score?.value.value} ${line.join(" ")}`;
    }
  }
  return undefined;
}

function textOf(
  depth: number,
  sign: number,
  score: { readonly case: string | undefined; readonly value?: number | undefined } | undefined,
  moves: readonly string[],
): string {
  return `${depth} ${score?.case} ${(score?.value ?? 0) * sign} ${moves.join(" ")}`;
}

const positions = new Map<string, Position | undefined>();

function positionOf({ fen, moves }: Pick<SearchPlan, "fen" | "moves">): Position | undefined {
  const key = `${fen} ${moves.join(" ")}`;
  if (!positions.has(key)) {
    const validation = validatePosition({ fen, moves, chess960: false });
    if (positions.size > 1000) {
      positions.clear();
    }
    positions.set(key, validation.kind === "position" ? validation.position : undefined);
  }
  return positions.get(key);
}
