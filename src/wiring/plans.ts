import { create, type DescMessage } from "@bufbuild/protobuf";
import { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { batchMaxOf } from "../access/over-plan.ts";
import {
  builtInPlans,
  freePlan,
  keylessPlan,
  openPlan,
  type Plan,
  type RatePolicy,
} from "../access/plans.ts";
import { requestBounds } from "../analysis/analysis.ts";
import { messageFromPlan } from "../calls/convert-access.ts";
import { unknownFieldViolation } from "../calls/plain/read-message.ts";
import { createPlainWriter } from "../calls/plain/write-message.ts";
import { errorFromUnknown } from "../errors/errors.ts";
import { readJsonObject } from "../protocols/json/json-text.ts";
import { echo, nameOfJson } from "../text/echo.ts";
import { isJsonObject, type Plain } from "../text/json.ts";
import { pointerStep } from "../text/json-pointer.ts";
import {
  brokenIn,
  errorOfFile,
  type FileViolation,
  integer,
  orNull,
  type Rule,
  type Rules,
  readSettingsFile,
  violationsOfFile,
} from "./json-rules.ts";
import type { Config } from "./settings.ts";

/** The maximum size of the file in bytes. */
const plansMaxBytes = 1_000_000;

/** Throws ConfigError if the file cannot be read, or contains invalid plans. */
export function loadPlans({ plansFile }: Pick<Config, "plansFile">): readonly Plan[] {
  if (plansFile === undefined) {
    return builtInPlans;
  }
  const reading = plansFromJson(readSettingsFile("KIBITZ_PLANS", plansFile, plansMaxBytes));
  if (reading.kind === "violations") {
    throw errorOfFile("KIBITZ_PLANS", plansFile, reading.violations);
  }
  return reading.plans;
}

type PlansReading =
  | { readonly kind: "plans"; readonly plans: readonly Plan[] }
  | { readonly kind: "violations"; readonly violations: readonly FileViolation[] };

/**
 * Reads JSON such as `{"plans": [{"id": "free", "limits": {"depth_max": 25}}]}`.
 * A missing field gets the value of the built-in plan with the same id, or of the plan `free`.
 */
export function plansFromJson(text: string): PlansReading {
  let file: Plain;
  try {
    file = readJsonObject(text);
  } catch (thrown) {
    return { kind: "violations", violations: violationsOfFile(errorFromUnknown(thrown)) };
  }
  const { plans: described, ...others } = file;
  const violations: FileViolation[] = Object.keys(others).map((key) => ({
    ...unknownFieldViolation(key, ["plans"]),
    pointer: pointerStep(key),
  }));
  if (!Array.isArray(described)) {
    violations.push({ pointer: "/plans", message: "`plans` must be a list of plans." });
    return { kind: "violations", violations };
  }
  const plans = new Map(builtInPlans.map((plan) => [plan.id, plan]));
  const describedIds = new Set<string>();
  for (const [index, json] of described.entries()) {
    const found = isJsonObject(json)
      ? readPlan(json, plans, describedIds)
      : [{ pointer: "", message: `A plan must be an object, not ${nameOfJson(json)}.` }];
    violations.push(
      ...found.map((violation) => ({ ...violation, pointer: `/plans/${index}${violation.pointer}` })),
    );
  }
  return violations.length > 0
    ? { kind: "violations", violations }
    : { kind: "plans", plans: [...plans.values()] };
}

/** Adds the plan to `plans` if it is valid, and the id of the plan to `describedIds`. */
function readPlan(
  json: Plain,
  plans: Map<string, Plan>,
  describedIds: Set<string>,
): readonly FileViolation[] {
  const base = (typeof json.id === "string" && plans.get(json.id)) || freePlan;
  const whole = overlaid({ ...shownPlans([base])[0] }, json);
  const violations = brokenIn(whole, planRules(base), "");
  const { id } = whole;
  if (typeof id === "string" && describedIds.has(id)) {
    violations.push({ pointer: "/id", message: `The plan ${echo(id, '"')} has been described already.` });
  } else if (typeof id === "string" && id !== "") {
    describedIds.add(id);
  }
  if (violations.length > 0) {
    return violations;
  }
  const plan = planFromJson(whole as unknown as PlanJson);
  const { batch_max: stated } = isJsonObject(json.limits) ? json.limits : {};
  const batchMax = batchMaxOf(plan.limits);
  if (stated !== undefined && stated !== batchMax) {
    const message = `\`batch_max\` follows from \`rates\`, and is ${batchMax} here: leave it out.`;
    return [{ pointer: "/limits/batch_max", message }];
  }
  plans.set(plan.id, plan);
  return [];
}

function overlaid(base: Plain, json: Plain): Plain {
  const { limits } = json;
  return {
    ...base,
    ...json,
    id: json.id,
    limits: limits === undefined || isJsonObject(limits) ? { ...(base.limits as Plain), ...limits } : limits,
  };
}

const name: Rule = {
  must: "must be a word of at most 32 lower-case letters, digits and hyphens",
  fits: (json) => typeof json === "string" && /^[a-z0-9][a-z0-9-]{0,31}$/.test(json),
};

/** An object instead of a list, so that the compiler reports a missing unit. */
const units: Readonly<Record<RatePolicy["unit"], true>> = {
  request: true,
  engine_ms: true,
  refusal: true,
  call: true,
};
const unit: Rule = {
  must: `must be one of ${Object.keys(units).join(", ")}`,
  fits: (json) => typeof json === "string" && Object.hasOwn(units, json),
};

const rateRules: Rules = {
  name,
  quota: integer(1, 1_000_000_000_000),
  window_s: integer(1, 2_000_000),
  unit,
};

const limitRules: Rules = {
  // The minimum is the default depth. With a lower limit, a request without a depth would always be rejected.
  depth_max: integer(requestBounds.depth.default, openPlan.limits.depthMax),
  nodes_max: integer(1, openPlan.limits.nodesMax),
  multipv_max: integer(1, openPlan.limits.multipvMax),
  movetime_ms_max: integer(requestBounds.movetimeMs.minimum, openPlan.limits.movetimeMaxMs),
  review_plies_max: integer(1, openPlan.limits.reviewPliesMax),
  batch_max: integer(0, 2 ** 32 - 1),
  concurrent: orNull(integer(1, 10_000)),
  rates: {
    must: "must be a list",
    fits: Array.isArray,
    fields: rateRules,
    uniqueNames: "The plan has a rate",
  },
};

function planRules({ requiresKey }: Plan): Rules {
  return {
    id: name,
    requires_key: {
      must: `must be ${requiresKey}, because only ${keylessPlan.id} needs no key`,
      fits: (json) => json === requiresKey,
    },
    limits: { must: "must be an object", fits: isJsonObject, fields: limitRules },
  };
}

/** JSON that breaks no rule. */
interface PlanJson {
  readonly id: string;
  readonly requires_key: boolean;
  readonly limits: {
    readonly depth_max: number;
    readonly nodes_max: number;
    readonly multipv_max: number;
    readonly movetime_ms_max: number;
    readonly review_plies_max: number;
    readonly concurrent: number | null;
    readonly rates: readonly (Omit<RatePolicy, "windowS"> & { readonly window_s: number })[];
  };
}

function planFromJson({ id, requires_key, limits }: PlanJson): Plan {
  return {
    id,
    requiresKey: requires_key,
    limits: {
      depthMax: limits.depth_max,
      nodesMax: limits.nodes_max,
      multipvMax: limits.multipv_max,
      movetimeMaxMs: limits.movetime_ms_max,
      reviewPliesMax: limits.review_plies_max,
      concurrent: limits.concurrent ?? undefined,
      rates: limits.rates.map(({ name, quota, window_s, unit }) => ({
        name,
        quota,
        windowS: window_s,
        unit,
      })),
    },
  };
}

export function shownPlans(plans: readonly Plan[]): readonly object[] {
  const message = planMessage();
  const write = createPlainWriter(message);
  return plans.map((plan) => write(create(message, messageFromPlan(plan))));
}

function planMessage(): DescMessage {
  const { message } = AnalysisService.method.getPrice.output.field.plans;
  if (message === undefined) {
    throw new Error("the plans of GetPriceResponse are no messages");
  }
  return message;
}
