import { type DescField, getOption } from "@bufbuild/protobuf";
import { field as rules } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { AnalysisRequestSchema } from "../../../gen/chess/analysis/v1/analysis_pb.ts";

export interface Bounds {
  readonly minimum: number;
  readonly maximum: number;
}

/** The numbers of an analysis request, by their names in the API. */
export const numberNames = ["depth", "multipv", "movetime_ms", "nodes"] as const;
export type NumberName = (typeof numberNames)[number];

/** From where to where a number of the request may go, whatever the plan: what its rules in the proto say. */
export const numberBounds: Readonly<Record<NumberName, Bounds>> = (() => {
  const { depth, multipv, movetimeMs, nodes } = AnalysisRequestSchema.field;
  return {
    depth: boundsOf(depth),
    multipv: boundsOf(multipv),
    movetime_ms: boundsOf(movetimeMs),
    nodes: boundsOf(nodes),
  };
})();

function boundsOf(field: DescField): Bounds {
  const { type } = getOption(field, rules);
  if (
    (type.case !== "uint32" && type.case !== "uint64") ||
    type.value.greaterThan.case !== "gte" ||
    type.value.lessThan.case !== "lte"
  ) {
    throw new Error(`${field} has no bounds in the proto`);
  }
  return { minimum: Number(type.value.greaterThan.value), maximum: Number(type.value.lessThan.value) };
}

/** How many items a list of the request may have. */
export const searchMovesMax = (() => {
  const { type } = getOption(AnalysisRequestSchema.field.searchMoves, rules);
  return Number(type.case === "repeated" ? type.value.maxItems : 0);
})();
