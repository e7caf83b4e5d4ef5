import { pointerStep } from "../json-pointer.ts";
import { builtInPlans, freePlan, keylessPlan, type Plan, type PlanLimits, type RatePolicy } from "./plans.ts";

/** The plans that an operator's file asks for, or the first thing that is wrong with it. */
export type PlansReading =
  | { readonly kind: "plans"; readonly plans: readonly Plan[] }
  | {
      readonly kind: "fault";
      /** JSON Pointer to the value at fault; empty for the whole file. */
      readonly pointer: string;
      readonly message: string;
    };

/**
 * Reads plans as `GET /price` shows them: `{"plans": [{"id": "free", "limits": {"depth_max": 25}}]}`. What a plan
 * does not say stays as it is built in; a plan that is not built in starts from `free`.
 */
export function plansFromJson(text: string): PlansReading {
  try {
    const file = objectOf(parse(text), "", ["plans"]);
    const plans = new Map(builtInPlans.map((plan) => [plan.id, plan]));
    const named = new Set<string>();
    for (const [index, json] of listOf(file.plans, "/plans").entries()) {
      const plan = readPlan(json, `/plans/${index}`, plans);
      if (named.has(plan.id)) {
        throw new Fault(`/plans/${index}/id`, `is "${plan.id}" a second time`);
      }
      named.add(plan.id);
      plans.set(plan.id, plan);
    }
    return { kind: "plans", plans: [...plans.values()] };
  } catch (thrown) {
    if (thrown instanceof Fault) {
      return { kind: "fault", pointer: thrown.pointer, message: thrown.message };
    }
    throw thrown;
  }
}

class Fault extends Error {
  readonly pointer: string;

  constructor(pointer: string, message: string) {
    super(message);
    this.pointer = pointer;
  }
}

type Plain = Readonly<Record<string, unknown>>;

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Fault("", `is not JSON: ${(error as Error).message}`);
  }
}

function readPlan(json: unknown, pointer: string, known: ReadonlyMap<string, Plan>): Plan {
  const { id, requires_key: requiresKey, limits } = objectOf(json, pointer, ["id", "requires_key", "limits"]);
  if (typeof id !== "string" || !name.test(id)) {
    throw new Fault(`${pointer}/id`, `must be ${nameRule}`);
  }
  const base = known.get(id) ?? { ...freePlan, id };
  if (requiresKey !== undefined && requiresKey !== base.requiresKey) {
    throw new Fault(
      `${pointer}/requires_key`,
      `must be ${base.requiresKey}: only ${keylessPlan.id} needs none`,
    );
  }
  return limits === undefined
    ? base
    : { ...base, limits: readLimits(limits, `${pointer}/limits`, base.limits) };
}

function readLimits(json: unknown, pointer: string, base: PlanLimits): PlanLimits {
  const limits = objectOf(json, pointer, [
    "depth_max",
    "multipv_max",
    "movetime_ms_max",
    "concurrent",
    "rates",
  ]);
  const { depth_max, multipv_max, movetime_ms_max, concurrent, rates } = limits;
  const at = (key: string) => `${pointer}/${key}`;
  return {
    // Below the default depth, a request that names none could never be run.
    depthMax: depth_max === undefined ? base.depthMax : integerOf(depth_max, at("depth_max"), 14, 30),
    multipvMax:
      multipv_max === undefined ? base.multipvMax : integerOf(multipv_max, at("multipv_max"), 1, 10),
    movetimeMaxMs:
      movetime_ms_max === undefined
        ? base.movetimeMaxMs
        : integerOf(movetime_ms_max, at("movetime_ms_max"), 50, 60_000),
    concurrent: concurrentOf(concurrent, at("concurrent"), base.concurrent),
    rates: rates === undefined ? base.rates : readRates(rates, at("rates")),
  };
}

function concurrentOf(json: unknown, pointer: string, base: number | undefined): number | undefined {
  if (json === undefined) {
    return base;
  }
  return json === null ? undefined : integerOf(json, pointer, 1, 10_000);
}

function readRates(json: unknown, pointer: string): readonly RatePolicy[] {
  const rates = listOf(json, pointer).map((rate, index) => readRate(rate, `${pointer}/${index}`));
  for (const [index, rate] of rates.entries()) {
    if (rates.findIndex((other) => other.name === rate.name) < index) {
      throw new Fault(`${pointer}/${index}/name`, `is "${rate.name}" a second time`);
    }
  }
  return rates;
}

/** A timer of Node's, which ends a window, can run 24.8 days. */
const windowMaxS = 2_000_000;

function readRate(json: unknown, pointer: string): RatePolicy {
  const rate = objectOf(json, pointer, ["name", "quota", "window_s", "unit"]);
  if (typeof rate.name !== "string" || !name.test(rate.name)) {
    throw new Fault(`${pointer}/name`, `must be ${nameRule}`);
  }
  if (rate.unit !== "request" && rate.unit !== "engine_ms") {
    throw new Fault(`${pointer}/unit`, 'must be "request" or "engine_ms"');
  }
  return {
    name: rate.name,
    quota: integerOf(rate.quota, `${pointer}/quota`, 1, 1_000_000_000_000),
    windowS: integerOf(rate.window_s, `${pointer}/window_s`, 1, windowMaxS),
    unit: rate.unit,
  };
}

const name = /^[a-z0-9][a-z0-9-]{0,31}$/;
const nameRule = "a word of at most 32 lower-case letters, digits and hyphens";

function objectOf(json: unknown, pointer: string, keys: readonly string[]): Plain {
  if (typeof json !== "object" || json === null || Array.isArray(json)) {
    throw new Fault(pointer, "must be an object");
  }
  const unknown = Object.keys(json).find((key) => !keys.includes(key));
  if (unknown !== undefined) {
    throw new Fault(pointer + pointerStep(unknown), `is not known here: the keys are ${keys.join(", ")}`);
  }
  return json as Plain;
}

function listOf(json: unknown, pointer: string): readonly unknown[] {
  if (!Array.isArray(json)) {
    throw new Fault(pointer, "must be a list");
  }
  return json;
}

function integerOf(json: unknown, pointer: string, minimum: number, maximum: number): number {
  if (!Number.isInteger(json) || (json as number) < minimum || (json as number) > maximum) {
    throw new Fault(pointer, `must be an integer from ${minimum} to ${maximum}, not ${JSON.stringify(json)}`);
  }
  return json as number;
}
