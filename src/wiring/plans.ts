import { readFileSync, statSync } from "node:fs";
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
import { errorFromUnknown, type KibitzError, violationsMax } from "../errors/errors.ts";
import { readJsonObject } from "../protocols/json/json-text.ts";
import { withoutControls } from "../text/controls.ts";
import { decodeText } from "../text/decode-text.ts";
import { echo, nameOfJson } from "../text/echo.ts";
import type { Plain } from "../text/json.ts";
import { pointerStep } from "../text/json-pointer.ts";
import { ConfigError } from "./config.ts";
import type { Config } from "./settings.ts";

/** Throws ConfigError if the file cannot be read, or contains invalid plans. */
export function loadPlans({ plansFile }: Pick<Config, "plansFile">): readonly Plan[] {
  if (plansFile === undefined) {
    return builtInPlans;
  }
  const reading = plansFromJson(readText(plansFile));
  if (reading.kind === "violations") {
    const lines = reading.violations.slice(0, violationsMax).map(({ pointer, message }) => {
      const place = pointer === "" ? "" : `, at ${withoutControls(pointer)}`;
      return `KIBITZ_PLANS: in ${plansFile}${place}: ${message}`;
    });
    const more = reading.violations.length - lines.length;
    if (more > 0) {
      lines.push(`KIBITZ_PLANS: ${plansFile} has ${more} more faults like these.`);
    }
    throw new ConfigError(lines.join("\n"));
  }
  return reading.plans;
}

/** The maximum size of the file. Reading an endless file, such as a device, would fill the memory. */
const plansMaxBytes = 1_000_000;

function readText(file: string): string {
  try {
    const found = statSync(file);
    if (!found.isFile() || found.size > plansMaxBytes) {
      throw new Error(`it is not a file of at most ${plansMaxBytes} bytes`);
    }
    return decodeText(readFileSync(file));
  } catch (error) {
    throw new ConfigError(`KIBITZ_PLANS: ${file} cannot be read: ${(error as Error).message}`);
  }
}

type PlansReading =
  | { readonly kind: "plans"; readonly plans: readonly Plan[] }
  | { readonly kind: "violations"; readonly violations: readonly PlansViolation[] };

interface PlansViolation {
  /** A JSON Pointer to the wrong value. Empty if the whole file is wrong. */
  readonly pointer: string;
  readonly message: string;
}

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
  const violations: PlansViolation[] = Object.keys(others).map((key) => ({
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
    const found = isObject(json)
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

/** Rewords error messages about the body of a request as messages about a file. */
function violationsOfFile({ violations, message: all }: KibitzError): readonly PlansViolation[] {
  const found = violations.length > 0 ? violations : [{ pointer: "", message: all }];
  return found.map(({ pointer, message }) => ({
    pointer,
    message: message.replace(/^The (body|request)/, "The file"),
  }));
}

/** Adds the plan to `plans` if it is valid, and the id of the plan to `describedIds`. */
function readPlan(
  json: Plain,
  plans: Map<string, Plan>,
  describedIds: Set<string>,
): readonly PlansViolation[] {
  const base = (typeof json.id === "string" && plans.get(json.id)) || freePlan;
  const whole = overlaid({ ...shownPlans([base])[0] }, json);
  const violations = brokenIn(whole, planRules(base), "");
  const { id } = whole;
  if (typeof id === "string" && describedIds.has(id)) {
    violations.push({ pointer: "/id", message: `The plan "${echo(id)}" has been described already.` });
  } else if (typeof id === "string" && id !== "") {
    describedIds.add(id);
  }
  if (violations.length > 0) {
    return violations;
  }
  const plan = planFromJson(whole as unknown as PlanJson);
  const { batch_max: stated } = isObject(json.limits) ? json.limits : {};
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
    limits: limits === undefined || isObject(limits) ? { ...(base.limits as Plain), ...limits } : limits,
  };
}

interface Rule {
  readonly must: string;
  readonly fits: (json: unknown) => boolean;
  /** The rules for the fields of this object, or of each object in this list. No other field is allowed. */
  readonly fields?: Rules;
  /** Two objects in this list must not have the same value in the field `name`. */
  readonly uniqueNames?: string;
}

type Rules = Readonly<Record<string, Rule>>;

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
  rates: { must: "must be a list", fits: Array.isArray, fields: rateRules, uniqueNames: "rate" },
};

function planRules({ requiresKey }: Plan): Rules {
  return {
    id: name,
    requires_key: {
      must: `must be ${requiresKey}, because only ${keylessPlan.id} needs no key`,
      fits: (json) => json === requiresKey,
    },
    limits: { must: "must be an object", fits: isObject, fields: limitRules },
  };
}

function brokenIn(json: Plain, rules: Rules, pointer: string): PlansViolation[] {
  const unknown = Object.keys(json)
    .filter((key) => !Object.hasOwn(rules, key))
    .map((key) => ({
      ...unknownFieldViolation(key, Object.keys(rules)),
      pointer: pointer + pointerStep(key),
    }));
  const known = Object.entries(rules).flatMap(([field, rule]) =>
    brokenBy(json[field], field, rule, `${pointer}/${field}`),
  );
  return [...unknown, ...known];
}

function brokenBy(value: unknown, field: string, rule: Rule, pointer: string): readonly PlansViolation[] {
  const { must, fits, fields, uniqueNames } = rule;
  if (!fits(value)) {
    return [
      {
        pointer,
        message: `\`${field}\` ${must}, not ${value === undefined ? "absent" : nameOfJson(value)}.`,
      },
    ];
  }
  if (fields === undefined) {
    return [];
  }
  if (isObject(value)) {
    return brokenIn(value, fields, pointer);
  }
  const names = new Set<unknown>();
  return (value as readonly unknown[]).flatMap((item, index) => {
    const place = `${pointer}/${index}`;
    if (!isObject(item)) {
      const message = `Each item of \`${field}\` must be an object, not ${nameOfJson(item)}.`;
      return [{ pointer: place, message }];
    }
    const isTwice = uniqueNames !== undefined && typeof item.name === "string" && names.has(item.name);
    names.add(item.name);
    const twice = {
      pointer: `${place}/name`,
      message: `The plan has a ${uniqueNames} ${nameOfJson(item.name)} already.`,
    };
    return [...brokenIn(item, fields, place), ...(isTwice ? [twice] : [])];
  });
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

function isObject(json: unknown): json is Plain {
  return typeof json === "object" && json !== null && !Array.isArray(json);
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
