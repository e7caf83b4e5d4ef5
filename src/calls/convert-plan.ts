import { isMessage, type Message } from "@bufbuild/protobuf";
import { PlanSchema } from "../../gen/chess/analysis/v1/analysis_pb.ts";
import type { Plan, RatePolicy } from "../access/plans.ts";

/** The plan that a message describes, as far as it does: what it leaves out is empty. */
export function planFromMessage(message: Message): Plan {
  if (!isMessage(message, PlanSchema)) {
    throw new TypeError(`${message.$typeName} is no plan`);
  }
  const { id, requiresKey, limits } = message;
  return {
    id,
    requiresKey,
    limits: {
      depthMax: limits?.depthMax ?? 0,
      multipvMax: limits?.multipvMax ?? 0,
      movetimeMaxMs: limits?.movetimeMsMax ?? 0,
      concurrent: limits?.concurrent,
      rates: (limits?.rates ?? []).map(({ name, quota, windowS, unit }) => ({
        name,
        quota: Number(quota),
        windowS,
        unit: unit as RatePolicy["unit"],
      })),
    },
  };
}
