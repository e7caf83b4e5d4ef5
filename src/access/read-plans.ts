import { pointerStep } from "../text/json-pointer.ts";
import { nearestName } from "../text/nearest-name.ts";
import { builtInPlans, freePlan, keylessPlan, type Plan, type PlanLimits, type RatePolicy } from "./plans.ts";

/** The plans that an operator's file asks for, or all that is wrong with it. */
export type PlansReading =
  | { readonly kind: "plans"; readonly plans: readonly Plan[] }
  | { readonly kind: "faults"; readonly faults: readonly PlansFault[] };

export interface PlansFault {
  /** JSON Pointer to the value at fault; empty for the whole file. */
  readonly pointer: string;
  readonly message: string;
}

/**
 * Reads plans as `GET /price` shows them: `{"plans": [{"id": "free", "limits": {"depth_max": 25}}]}`. What a plan
 * does not say stays as it is built in; a plan that is not built in starts from `free`.
 */
export function plansFromJson(text: string): PlansReading {
  const faults: PlansFault[] = [];
  const plans = new Map(builtInPlans.map((plan) => [plan.id, plan]));
  const named = new Set<string>();
  for (const [index, json] of listOf(faults, fileOf(faults, text).plans, "/plans").entries()) {
    const plan = readPlan(faults, json, `/plans/${index}`, plans);
    if (plan === undefined) {
      continue;
    }
    if (named.has(plan.id)) {
      faults.push({ pointer: `/plans/${index}/id`, message: `is "${plan.id}" a second time` });
    }
    named.add(plan.id);
    plans.set(plan.id, plan);
  }
  return faults.length > 0 ? { kind: "faults", faults } : { kind: "plans", plans: [...plans.values()] };
}

type Plain = Readonly<Record<string, unknown>>;

/** Whatever is at fault is noted and read as if it were fine, so that all faults are found. */
type Faults = PlansFault[];

/** Nothing of a file that cannot be read is missing in it. */
const noPlans: Plain = { plans: [] };

function fileOf(faults: Faults, text: string): Plain {
  try {
    return objectOf(faults, JSON.parse(text), "", ["plans"]) ?? noPlans;
  } catch (error) {
    faults.push({ pointer: "", message: `is not JSON: ${(error as Error).message}` });
    return noPlans;
  }
}

function readPlan(
  faults: Faults,
  json: unknown,
  pointer: string,
  known: ReadonlyMap<string, Plan>,
): Plan | undefined {
  const plan = objectOf(faults, json, pointer, ["id", "requires_key", "limits"]);
  if (plan === undefined) {
    return undefined;
  }
  const { id, requires_key: requiresKey, limits } = plan;
  const hasName = isName(faults, id, `${pointer}/id`);
  const base = (hasName && known.get(id)) || { ...freePlan, id: String(id) };
  if (hasName && requiresKey !== undefined && requiresKey !== base.requiresKey) {
    const message = `must be ${base.requiresKey}: only ${keylessPlan.id} needs none`;
    faults.push({ pointer: `${pointer}/requires_key`, message });
  }
  const read =
    limits === undefined ? base.limits : readLimits(faults, limits, `${pointer}/limits`, base.limits);
  return hasName ? { ...base, limits: read } : undefined;
}

const limitNames = ["depth_max", "multipv_max", "movetime_ms_max", "concurrent", "rates"];

function readLimits(faults: Faults, json: unknown, pointer: string, base: PlanLimits): PlanLimits {
  const limits = objectOf(faults, json, pointer, limitNames) ?? {};
  const integer = (key: string, minimum: number, maximum: number, otherwise: number) =>
    limits[key] === undefined
      ? otherwise
      : integerOf(faults, limits[key], `${pointer}/${key}`, minimum, maximum);
  return {
    // Below the default depth, a request that names none could never be run.
    depthMax: integer("depth_max", 14, 30, base.depthMax),
    multipvMax: integer("multipv_max", 1, 10, base.multipvMax),
    movetimeMaxMs: integer("movetime_ms_max", 50, 60_000, base.movetimeMaxMs),
    concurrent:
      limits.concurrent === null || (limits.concurrent === undefined && base.concurrent === undefined)
        ? undefined
        : integer("concurrent", 1, 10_000, base.concurrent ?? 0),
    rates: limits.rates === undefined ? base.rates : readRates(faults, limits.rates, `${pointer}/rates`),
  };
}

function readRates(faults: Faults, json: unknown, pointer: string): readonly RatePolicy[] {
  const rates = listOf(faults, json, pointer).map((rate, index) =>
    readRate(faults, rate, `${pointer}/${index}`),
  );
  for (const [index, rate] of rates.entries()) {
    if (rate && rates.findIndex((other) => other?.name === rate.name) < index) {
      faults.push({ pointer: `${pointer}/${index}/name`, message: `is "${rate.name}" a second time` });
    }
  }
  return rates.filter((rate) => rate !== undefined);
}

/** A timer of Node's, which ends a window, can run 24.8 days. */
const windowMaxS = 2_000_000;

function readRate(faults: Faults, json: unknown, pointer: string): RatePolicy | undefined {
  const rate = objectOf(faults, json, pointer, ["name", "quota", "window_s", "unit"]);
  if (rate === undefined) {
    return undefined;
  }
  const { name, unit } = rate;
  const hasName = isName(faults, name, `${pointer}/name`);
  const quota = integerOf(faults, rate.quota, `${pointer}/quota`, 1, 1_000_000_000_000);
  const windowS = integerOf(faults, rate.window_s, `${pointer}/window_s`, 1, windowMaxS);
  if (unit !== "request" && unit !== "engine_ms") {
    faults.push({ pointer: `${pointer}/unit`, message: 'must be "request" or "engine_ms"' });
    return undefined;
  }
  return hasName ? { name, quota, windowS, unit } : undefined;
}

function isName(faults: Faults, json: unknown, pointer: string): json is string {
  const fits = typeof json === "string" && /^[a-z0-9][a-z0-9-]{0,31}$/.test(json);
  if (!fits) {
    faults.push({ pointer, message: "must be a word of at most 32 lower-case letters, digits and hyphens" });
  }
  return fits;
}

function objectOf(
  faults: Faults,
  json: unknown,
  pointer: string,
  keys: readonly string[],
): Plain | undefined {
  if (typeof json !== "object" || json === null || Array.isArray(json)) {
    faults.push({ pointer, message: "must be an object" });
    return undefined;
  }
  for (const key of Object.keys(json).filter((one) => !keys.includes(one))) {
    const meant = nearestName(key, keys);
    const hint = meant === undefined ? `the keys are ${keys.join(", ")}` : `did you mean ${meant}?`;
    faults.push({ pointer: pointer + pointerStep(key), message: `is not known here; ${hint}` });
  }
  return json as Plain;
}

function listOf(faults: Faults, json: unknown, pointer: string): readonly unknown[] {
  if (!Array.isArray(json)) {
    faults.push({ pointer, message: "must be a list" });
    return [];
  }
  return json;
}

function integerOf(faults: Faults, json: unknown, pointer: string, minimum: number, maximum: number): number {
  if (!Number.isInteger(json) || (json as number) < minimum || (json as number) > maximum) {
    const message = `must be an integer from ${minimum} to ${maximum}, not ${JSON.stringify(json)}`;
    faults.push({ pointer, message });
    return minimum;
  }
  return json as number;
}
