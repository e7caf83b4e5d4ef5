import type { EngineBuild } from "../engine/engine.ts";
import { createScheduler, type Scheduler, type SchedulerStatus } from "./scheduler.ts";

interface OwnSchedulers {
  /** Returns undefined if the engine shares the slots of the server. */
  of(build: EngineBuild): Scheduler | undefined;
  /** Adds the searches of all engines to the status of the shared scheduler. The expected wait is that of the shared slots. */
  total(shared: SchedulerStatus): SchedulerStatus;
}

/**
 * Engines with a limited number of instances have slots of their own, one for each instance: their searches wait for each other,
 * so that no slot of the server waits for an instance. Such an engine may compute on a graphics card.
 */
export function createOwnSchedulers(builds: readonly EngineBuild[], maxWaitMs: number): OwnSchedulers {
  const schedulers = new Map(
    builds.flatMap((build) =>
      build.launch?.instances === undefined
        ? []
        : [[build, createScheduler({ slots: build.launch.instances, maxWaitMs })]],
    ),
  );
  return {
    of: (build) => schedulers.get(build),
    total: (shared) =>
      [...schedulers.values()]
        .map((scheduler) => scheduler.status())
        .reduce(
          (sum, { slots, running, waiting, started, refused }) => ({
            slots: sum.slots + slots,
            running: sum.running + running,
            waiting: sum.waiting + waiting,
            started: sum.started + started,
            refused: sum.refused + refused,
            expectedWaitMs: sum.expectedWaitMs,
          }),
          shared,
        ),
  };
}
