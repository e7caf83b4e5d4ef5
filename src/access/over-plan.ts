import { type Fault, KibitzError, type NextAction } from "../errors.ts";
import { type Asked, allows } from "./estimate.ts";
import type { Plan } from "./plans.ts";

/** Where callers get keys by themselves. */
export const keyUrl = "/v1/keys";

/** What a plan can never run of a request: nothing, mostly. */
export function faultsOverPlan({ depth, multipv, movetimeMs }: Asked, { limits }: Plan): readonly Fault[] {
  const faults: Fault[] = [];
  const check = (pointer: string, value: number | undefined, minimum: number, maximum: number) => {
    if (value !== undefined && value > maximum) {
      const message = `${value} is over ${maximum}`;
      faults.push({ pointer, code: "over_plan_limit", message, allowed: { minimum, maximum } });
    }
  };
  check("/depth", depth, 1, limits.depthMax);
  check("/multipv", multipv, 1, limits.multipvMax);
  check("/movetime_ms", movetimeMs, 50, limits.movetimeMaxMs);
  return faults;
}

/** The fault of a batch that no window of the plan has room for. */
export function faultsOfBatch(items: number, { limits }: Plan): readonly Fault[] {
  const quotas = limits.rates.filter(({ unit }) => unit === "request").map(({ quota }) => quota);
  const maximum = Math.min(...quotas);
  return items <= maximum
    ? []
    : [
        {
          pointer: "/requests",
          code: "over_plan_limit",
          message: `${items} requests are over ${maximum}`,
          allowed: { minItems: 1, maxItems: maximum },
        },
      ];
}

/** Who asks too much, and what more there is to have. */
export interface Upgrading {
  readonly plan: Plan;
  /** The plans of the service, smallest first. */
  readonly plans: readonly Plan[];
  /** Plan of the keys that callers get by themselves; undefined where they get none. */
  readonly selfServicePlan: string | undefined;
  /** Whether a plan could run the request. */
  readonly runs: (plan: Plan) => boolean;
}

/** `upgrade_needed`: what is too much, the plan that allows it, and what to do. */
export function upgradeNeeded(
  faults: readonly Fault[],
  { plan, plans, selfServicePlan, runs }: Upgrading,
): KibitzError {
  const better = plans.find((other) => other.requiresKey && other !== plan && runs(other));
  const canGet = better !== undefined && better.id === selfServicePlan && !plan.requiresKey;
  const nextAction: NextAction = canGet ? "get_api_key" : "reduce_limits";
  return new KibitzError("upgrade_needed", detailOf(faults, plan), {
    faults,
    nextAction,
    ...(better && { upgrade: { plan: better.id, url: canGet ? keyUrl : "/price" } }),
  });
}

/** Whether a plan could run a request of these limits. */
export const couldRun = (asked: Asked) => (plan: Plan) => allows(plan, asked);

const words: Readonly<Record<string, (maximum: unknown) => string>> = {
  "/depth": (maximum) => `depth up to ${maximum}`,
  "/multipv": (maximum) => `up to ${maximum} ${maximum === 1 ? "line" : "lines"}`,
  "/movetime_ms": (maximum) => `searches of up to ${maximum} ms`,
  "/requests": (maximum) => `batches of up to ${maximum}`,
};

function detailOf(faults: readonly Fault[], { id, requiresKey }: Plan): string {
  const who = requiresKey ? `Keys of the plan "${id}"` : "Keyless calls";
  const allowed = faults.map(({ pointer, allowed }) =>
    words[pointer]?.(allowed?.maximum ?? allowed?.maxItems),
  );
  const asked = faults.map(({ message }) => message.split(" ")[0]);
  return `${who} may ask for ${allowed.join(", ")}; this request asks for ${asked.join(", ")}.`;
}
