import { setTimeout as sleep } from "node:timers/promises";
import { panels } from "../../../tools/monitoring/panels.ts";
import type { Drill } from "./drills.ts";
import type { Prometheus } from "./prometheus.ts";
import type { Rig } from "./rig.ts";

/**
 * `noticedS`: the seconds until alerts, dashboard and log show the fault. `clearedS`: the seconds from the repair until no
 * alert fires.
 */
export interface Rehearsed {
  readonly noticedS: number;
  readonly clearedS: number;
}

const lookEveryMs = 250;

/** The maximum wait for an alert, in milliseconds. With the shortened rules, an alert needs less than a third of this time. */
const waitMaxMs = 120_000;

/** For a fault that harms no caller, the test checks for this many milliseconds that no critical alert fires. */
const calmMs = 12_000;

/**
 * Causes a fault, waits until alerts, dashboard and log show the fault, repairs the fault, and waits until the alerts have
 * cleared.
 * @throws Error if a wait exceeds `waitMaxMs`
 */
export async function rehearse(drill: Drill, rig: Rig): Promise<Rehearsed> {
  const { prometheus, log } = rig;
  const { alerts, panel } = drill;
  await until(
    "something is wrong before anything is broken",
    async () => (await calling(prometheus)).length + (await firingOf(prometheus, alerts)).length === 0,
  );
  const before = log.length;
  const beganAt = performance.now();
  const mend = await drill.begin(rig);
  try {
    await Promise.all([
      alerts.length > 0
        ? until(
            `not all of ${alerts} fire`,
            async () => (await firingOf(prometheus, alerts)).length === alerts.length,
          )
        : stayCalm(prometheus),
      until(`the picture "${panel.title}" does not show it`, async () =>
        panel.shows(await shownBy(panel.title, rig)),
      ),
      until(
        `the log does not say ${drill.log}`,
        async () => drill.log === undefined || log.slice(before).some((line) => drill.log?.test(line)),
      ),
    ]);
  } finally {
    await mend();
  }
  const mendedAt = performance.now();
  await until(`${alerts} still fire`, async () => (await firingOf(prometheus, alerts)).length === 0);
  return { noticedS: (mendedAt - beganAt) / 1000, clearedS: (performance.now() - mendedAt) / 1000 };
}

async function until(otherwise: string, isSo: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + waitMaxMs;
  while (!(await isSo())) {
    if (performance.now() > end) {
      throw new Error(otherwise);
    }
    await sleep(lookEveryMs);
  }
}

async function firingOf(prometheus: Prometheus, names: readonly string[]): Promise<readonly string[]> {
  const firing = await prometheus.firing();
  const unreadable = firing.find(({ annotations }) => /<error|<no value>/.test(JSON.stringify(annotations)));
  if (unreadable) {
    throw new Error(`${unreadable.name} cannot be read: ${JSON.stringify(unreadable.annotations)}`);
  }
  return names.filter((name) => firing.some((alert) => alert.name === name));
}

async function calling(prometheus: Prometheus): Promise<readonly string[]> {
  const firing = await prometheus.firing();
  return firing.filter(({ labels }) => labels.severity === "critical").map(({ name }) => name);
}

/** Waits for `calmMs`. @throws Error if a critical alert fires */
async function stayCalm(prometheus: Prometheus): Promise<void> {
  const end = performance.now() + calmMs;
  while (performance.now() < end) {
    const [called] = await calling(prometheus);
    if (called !== undefined) {
      throw new Error(`${called} fires, and nobody is harmed`);
    }
    await sleep(lookEveryMs);
  }
}

async function shownBy(title: string, { prometheus }: Rig): Promise<readonly number[]> {
  const panel = panels.get(title);
  if (panel === undefined) {
    throw new Error(`the dashboard has no picture "${title}"`);
  }
  const queries = Object.values(panel.lines).map((query) =>
    query.replaceAll("$__rate_interval", "3s").replaceAll("$instance", ".*"),
  );
  return (await Promise.all(queries.map((query) => prometheus.ask(query)))).flat();
}
