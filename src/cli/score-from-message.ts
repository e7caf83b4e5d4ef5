import * as pb from "../../gen/chess/analysis/v1/analysis_pb.ts";
import type { Bound, Score } from "../chess/score.ts";

const bounds: ReadonlyMap<pb.Bound | undefined, Bound> = new Map([
  [pb.Bound.LOWER, "lower"],
  [pb.Bound.UPPER, "upper"],
]);

/** The score is from White's point of view. A missing score becomes 0 centipawns. */
export function scoreFromMessage(score: pb.Score | undefined): Score {
  const { case: kind, value = 0 } = score?.value ?? {};
  return {
    value: kind === "mate" ? { kind, mate: value } : { kind: "cp", cp: value },
    bound: bounds.get(score?.bound) ?? "exact",
    wdl: score?.wdl,
  };
}
