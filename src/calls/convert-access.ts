import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type * as pb from "../../gen/chess/analysis/v1/analysis_pb.ts";
import type {
  CreateKeyResponseSchema,
  GetKeyResponseSchema,
} from "../../gen/chess/analysis/v1/key_service_pb.ts";
import type { Account } from "../access/account.ts";
import { batchMaxOf } from "../access/over-plan.ts";
import type { Plan, PlanLimits } from "../access/plans.ts";
import type { RateWindow } from "../access/rate-limit-fields.ts";

type Key = NonNullable<Account["key"]>;

export function messageFromPlan({ id, requiresKey, limits }: Plan): MessageInitShape<typeof pb.PlanSchema> {
  return { id, requiresKey, limits: messageFromLimits(limits) };
}

function messageFromLimits(limits: PlanLimits): MessageInitShape<typeof pb.PlanLimitsSchema> {
  return {
    depthMax: limits.depthMax,
    nodesMax: BigInt(limits.nodesMax),
    multipvMax: limits.multipvMax,
    movetimeMsMax: limits.movetimeMaxMs,
    reviewPliesMax: limits.reviewPliesMax,
    batchMax: batchMaxOf(limits),
    ...(limits.concurrent !== undefined && { concurrent: limits.concurrent }),
    rates: limits.rates.map(({ name, quota, windowS, unit }) => ({
      name,
      quota: BigInt(quota),
      windowS,
      unit,
    })),
  };
}

export function messageFromNewKey(
  { id, name, plan, createdAt }: Key,
  key: string,
): MessageInitShape<typeof CreateKeyResponseSchema> {
  return { id, key, ...(name !== undefined && { name }), plan, createdAt: timestampFromMs(createdAt) };
}

export function messageFromKey(
  { id, name, plan, expiresAt }: Key,
  { limits }: Plan,
  windows: readonly RateWindow[],
): MessageInitShape<typeof GetKeyResponseSchema> {
  return {
    id,
    ...(name !== undefined && { name }),
    plan,
    limits: messageFromLimits(limits),
    remaining: windows.map(({ policy: { name, unit, quota, windowS }, remaining, resetMs }) => ({
      name,
      unit,
      quota: BigInt(quota),
      remaining: BigInt(Math.floor(remaining)),
      windowS,
      resetMs: Math.ceil(resetMs),
    })),
    ...(expiresAt !== undefined && { expiresAt: timestampFromMs(expiresAt) }),
  };
}
