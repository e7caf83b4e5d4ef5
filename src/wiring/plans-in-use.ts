import type { Access } from "../access/access.ts";
import { freePlan, planOf } from "../access/plans.ts";
import type { Log } from "../log/log.ts";
import { echo } from "../text/echo.ts";
import { ConfigError } from "./config.ts";
import { loadPlans } from "./plans.ts";
import type { Config } from "./settings.ts";

type PlannedAccess = Pick<Access, "plans" | "usePlans" | "keysByPlan">;

/**
 * Reads KIBITZ_PLANS again. Throws ConfigError, and then changes nothing, if the file has mistakes, or lacks a plan that keys use
 * and that it had before. Throws StoreUnavailable if nobody knows whether keys use the plan.
 */
export async function reloadPlans(config: Config, access: PlannedAccess): Promise<readonly string[]> {
  const plans = loadPlans(config);
  const removed = access.plans.filter(({ id }) => planOf(plans, id) === undefined);
  if (removed.length > 0 && config.access !== "open") {
    const used = await access.keysByPlan();
    const missing = removed.flatMap(({ id }) =>
      used.has(id) ? [`${echo(id, '"')} (keys: ${used.get(id)})`] : [],
    );
    if (missing.length > 0) {
      throw new ConfigError(
        `KIBITZ_PLANS: ${config.plansFile} lacks plans that keys use: ${missing.join(", ")}. Put them back, or give these keys another plan with kibitz keys update.`,
      );
    }
  }
  access.usePlans(plans);
  return plans.map(({ id }) => id);
}

/** At a start, nobody can say what a missing plan was, so its keys get the free plan. */
export async function warnOfMissingPlans(
  config: Config,
  access: PlannedAccess,
  log: Pick<Log, "warn">,
): Promise<void> {
  if (config.access === "open") {
    return;
  }
  for (const [id, count] of await access.keysByPlan()) {
    if (planOf(access.plans, id) === undefined) {
      const where =
        config.plansFile === undefined ? "KIBITZ_PLANS is not set" : "KIBITZ_PLANS lacks this plan";
      log.warn({ count }, `keys of the plan ${echo(id, '"')} have the plan ${freePlan.id}: ${where}`);
    }
  }
}
