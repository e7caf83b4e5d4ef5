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
import { messageFromPlan, planFromMessage } from "../calls/convert-access.ts";
import { createMessageReader, unknownFieldViolation } from "../calls/plain/read-message.ts";
import { createPlainWriter } from "../calls/plain/write-message.ts";
import { errorFromUnknown, type KibitzError } from "../errors/errors.ts";
import { readJsonObject } from "../protocols/json/json-text.ts";
import { decodeText } from "../text/decode-text.ts";
import { pointerStep } from "../text/json-pointer.ts";
import type { Plain } from "../text/plain-text.ts";
import { ConfigError } from "./config.ts";
import type { Config } from "./settings.ts";

/** Throws ConfigError if the file cannot be read, or contains invalid plans. */
export function loadPlans({ plansFile }: Pick<Config, "plansFile">): readonly Plan[] {
  if (plansFile === undefined) {
    return builtInPlans;
  }
  const reading = plansFromJson(readText(plansFile));
  if (reading.kind === "violations") {
    const lines = reading.violations.map(({ pointer, message }) => {
      const place = pointer === "" ? "" : `, at ${pointer}`;
      return `KIBITZ_PLANS: in ${plansFile}${place}: ${message}`;
    });
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
      : [{ pointer: "", message: `A plan must be an object, not ${JSON.stringify(json)}.` }];
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

/** Adds the plan to `plans`, and the id of the plan to `describedIds`. */
function readPlan(
  json: Plain,
  plans: Map<string, Plan>,
  describedIds: Set<string>,
): readonly PlansViolation[] {
  const base = plans.get(String(json.id)) ?? freePlan;
  const whole = overlaid({ ...shownPlans([base])[0] }, json);
  const { message, violations: unread } = createMessageReader(planMessage())(whole);
  const plan = planFromMessage(message);
  const violations = brokenRules(whole, base);
  if (plan.id !== "" && describedIds.has(plan.id)) {
    violations.push({ pointer: "/id", message: `The plan "${plan.id}" has been described already.` });
  }
  // If two errors concern the same value, report only the error from `brokenRules`, because it is more exact.
  violations.push(
    ...unread.filter(({ pointer }) => !violations.some((violation) => violation.pointer === pointer)),
  );
  const { batch_max: stated } = isObject(json.limits) ? json.limits : {};
  const batchMax = batchMaxOf(plan.limits);
  if (violations.length === 0 && stated !== undefined && stated !== batchMax) {
    const message = `\`batch_max\` follows from \`rates\`, and is ${batchMax} here: leave it out.`;
    violations.push({ pointer: "/limits/batch_max", message });
  }
  describedIds.add(plan.id);
  plans.set(plan.id, plan);
  return violations;
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

const limitRules: Readonly<Record<string, Rule>> = {
  // The minimum is the default depth. With a lower limit, a request without a depth would always be rejected.
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
  window_s: integer(1, 2_000_000),
  unit,
};

function brokenRules(plan: Plain, { requiresKey }: Plan): PlansViolation[] {
  const access: Rule = {
    must: `must be ${requiresKey}, because only ${keylessPlan.id} needs no key`,
    fits: (json) => json === requiresKey,
  };
  const violations = broken(plan, { id: name, requires_key: access, limits: object }, "");
  const { limits } = plan;
  if (!isObject(limits)) {
    return violations;
  }
  violations.push(...broken(limits, limitRules, "/limits"));
  const names: unknown[] = [];
  for (const [index, rate] of (Array.isArray(limits.rates) ? limits.rates : []).entries()) {
    if (isObject(rate)) {
      const pointer = `/limits/rates/${index}`;
      violations.push(...broken(rate, rateRules, pointer));
      if (names.includes(rate.name)) {
        violations.push({
          pointer: `${pointer}/name`,
          message: `The plan has a rate "${rate.name}" already.`,
        });
      }
      names.push(rate.name);
    }
  }
  return violations;
}

function broken(json: Plain, rules: Readonly<Record<string, Rule>>, pointer: string): PlansViolation[] {
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
