import type { Access } from "../access/access.ts";
import type { Engines } from "../engine/engines.ts";
import type { MetricsServer } from "../http/metrics-server.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { Degraded } from "./degraded.ts";
import type { Service } from "./service.ts";

export type ServiceMetrics = Pick<Metrics, "meter" | "watch"> & Partial<Pick<MetricsServer, "serveProbes">>;

/** Lets metrics read the current state, and count the events of engines. */
export function watchService(
  { meter, watch }: ServiceMetrics,
  { scheduler, analyzer }: Service,
  engines: Engines,
  access: Pick<Access, "lookUps">,
  degraded: Degraded,
): void {
  watch({
    queue: scheduler.status,
    engines: engines.status,
    waiters: analyzer.waiters,
    keys: access.lookUps,
    degraded: degraded.parts,
  });
  // Engines that are already there count as started, without a duration.
  for (const { build, states } of engines.status()) {
    for (const _ of states) {
      meter.engineStarted(build, undefined);
    }
  }
  engines.changes.on("started", meter.engineStarted);
  engines.changes.on("lost", meter.engineLost);
}
