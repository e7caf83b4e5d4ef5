import { batchMaxOf } from "./over-plan.ts";
import { builtInPlans, freePlan, keylessPlan, openPlan, type Plan, type RatePolicy } from "./plans.ts";

/** The plans of the operator's file, or all its faults. */
export type PlansReading =
  | { readonly kind: "plans"; readonly plans: readonly Plan[] }
  | { readonly kind: "faults"; readonly faults: readonly PlansFault[] };

export interface PlansFault {
  /** JSON Pointer to the wrong value; empty for the whole file. */
  readonly pointer: string;
  readonly message: string;
}

/** Writes and reads a plan as plain JSON, in the form of `GET /price`. */
export interface PlanForm {
  write(plan: Plan): Plain;
  /** Values that cannot be read are faults, and undefined or empty in the plan. Bounds are not checked. */
  read(json: Plain): { readonly plan: Plan; readonly faults: readonly PlansFault[] };
}

type Plain = Readonly<Record<string, unknown>>;

/**
 * Reads plans: `[{"id": "free", "limits": {"depth_max": 25}}]`. Values that a plan leaves out are those of the built-in plan of
 * its name; any other plan starts from `free`.
 */
export function readPlans(all: readonly unknown[], form: PlanForm): PlansReading {
  const faults: PlansFault[] = [];
  const plans = new Map(builtInPlans.map((plan) => [plan.id, plan]));
  const named = new Set<string>();
  for (const [index, json] of all.entries()) {
    if (!isObject(json)) {
      faults.push({
        pointer: `/${index}`,
        message: `A plan must be an object, not ${JSON.stringify(json)}.`,
      });
      continue;
    }
    const base = plans.get(String(json.id)) ?? freePlan;
    const whole = overlaid(form.write(base), json);
    const { plan, faults: unread } = form.read(whole);
    const own = brokenRules(whole, base);
    if (plan.id !== "" && named.has(plan.id)) {
      own.push({ pointer: "/id", message: `The plan "${plan.id}" has been described already.` });
    }
    // If both find a fault, that of the rule is more exact.
    const others = unread.filter(({ pointer }) => !own.some((fault) => fault.pointer === pointer));
    const { batch_max: stated } = isObject(json.limits) ? json.limits : {};
    const batchMax = batchMaxOf(plan.limits);
    if (own.length + others.length === 0 && stated !== undefined && stated !== batchMax) {
      const message = `\`batch_max\` follows from \`rates\`, and is ${batchMax} here: leave it out.`;
      own.push({ pointer: "/limits/batch_max", message });
    }
    faults.push(...[...own, ...others].map((fault) => ({ ...fault, pointer: `/${index}${fault.pointer}` })));
    named.add(plan.id);
    plans.set(plan.id, plan);
  }
  return faults.length > 0 ? { kind: "faults", faults } : { kind: "plans", plans: [...plans.values()] };
}

/** The base plan, overwritten with the values of the file. */
function overlaid(base: Plain, json: Plain): Plain {
  const { limits } = json;
  return {
    ...base,
    ...json,
    // A plan without an id must not get that of the base.
    id: json.id,
    limits: limits === undefined || isObject(limits) ? { ...(base.limits as Plain), ...limits } : limits,
  };
}

/** A rule for the value of a field. */
interface Rule {
  readonly must: string;
  readonly fits: (json: unknown) => boolean;
}

const integer = (minimum: number, maximum: number): Rule => ({
  must: `must be an integer from ${minimum} to ${maximum}`,
  fits: (json) => Number.isInteger(json) && (json as number) >= minimum && (json as number) <= maximum,
});
const orNull = ({ must, fits }: Rule): Rule => ({
  must: `${must}, or null for any number`,
  fits: (json) => json === null || fits(json),
});
const name: Rule = {
  must: "must be a word of at most 32 lower-case letters, digits and hyphens",
  fits: (json) => typeof json === "string" && /^[a-z0-9][a-z0-9-]{0,31}$/.test(json),
};
const list: Rule = { must: "must be a list", fits: Array.isArray };
const object: Rule = { must: "must be an object", fits: isObject };

/** All units: the type makes sure that none is missing. */
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

const limitRules: Readonly<Record<string, Rule>> = {
  // With less than the default depth, a request without a depth could never be answered.
  depth_max: integer(14, openPlan.limits.depthMax),
  nodes_max: integer(1, openPlan.limits.nodesMax),
  multipv_max: integer(1, openPlan.limits.multipvMax),
  movetime_ms_max: integer(50, openPlan.limits.movetimeMaxMs),
  review_plies_max: integer(1, openPlan.limits.reviewPliesMax),
  concurrent: orNull(integer(1, 10_000)),
  rates: list,
};

const rateRules: Readonly<Record<string, Rule>> = {
  name,
  quota: integer(1, 1_000_000_000_000),
  // About 23 days.
  window_s: integer(1, 2_000_000),
  unit,
};

function brokenRules(plan: Plain, { requiresKey }: Plan): PlansFault[] {
  const access: Rule = {
    must: `must be ${requiresKey}, because only ${keylessPlan.id} needs no key`,
    fits: (json) => json === requiresKey,
  };
  const faults = broken(plan, { id: name, requires_key: access, limits: object }, "");
  const { limits } = plan;
  if (!isObject(limits)) {
    return faults;
  }
  faults.push(...broken(limits, limitRules, "/limits"));
  const names: unknown[] = [];
  for (const [index, rate] of (Array.isArray(limits.rates) ? limits.rates : []).entries()) {
    if (isObject(rate)) {
      const pointer = `/limits/rates/${index}`;
      faults.push(...broken(rate, rateRules, pointer));
      if (names.includes(rate.name)) {
        faults.push({ pointer: `${pointer}/name`, message: `The plan has a rate "${rate.name}" already.` });
      }
      names.push(rate.name);
    }
  }
  return faults;
}

function broken(json: Plain, rules: Readonly<Record<string, Rule>>, pointer: string): PlansFault[] {
  return Object.entries(rules)
    .filter(([field, { fits }]) => !fits(json[field]))
    .map(([field, { must }]) => ({
      pointer: `${pointer}/${field}`,
      message: `\`${field}\` ${must}, not ${JSON.stringify(json[field]) ?? "absent"}.`,
    }));
}

function isObject(json: unknown): json is Plain {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}
