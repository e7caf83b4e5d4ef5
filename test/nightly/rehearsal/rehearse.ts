import { setTimeout as sleep } from "node:timers/promises";
import { panels } from "../../../tools/monitoring/panels.ts";
import type { Drill } from "./drills.ts";
import type { Prometheus } from "./prometheus.ts";
import type { Rig } from "./rig.ts";

/** How a drill went: seconds until it was noticed everywhere, and from its mending until no alert fired any more. */
export interface Rehearsed {
  readonly noticedS: number;
  readonly clearedS: number;
}

const lookEveryMs = 250;

/** An alert fires and clears within its longest window and its `for`: an hour and two minutes, a hundredth of it here. Three times that. */
const waitMaxMs = 120_000;

/** How long nothing may fire where nobody is harmed: longer than slow clients are waited for. */
const calmMs = 12_000;

/**
 * Breaks it, waits until each alert fires, the picture shows it and the log says it, mends it, and waits until the alerts have cleared.
 *
 * @throws Error that says what was not noticed or did not clear, or which alert has a text that cannot be shown.
 */
export async function rehearse(drill: Drill, rig: Rig): Promise<Rehearsed> {
  const { prometheus, log } = rig;
  const { alerts, panel } = drill;
  await until(
    "something is wrong before anything is broken",
    async () => (await calling(prometheus)).length + (await namesOf(prometheus, alerts)).length === 0,
  );
  const before = log.length;
  const beganAt = performance.now();
  const mend = await drill.begin(rig);
  try {
    await Promise.all([
      alerts.length > 0
        ? until(
            `not all of ${alerts} fire`,
            async () => (await namesOf(prometheus, alerts)).length === alerts.length,
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
  await until(`${alerts} still fire`, async () => (await namesOf(prometheus, alerts)).length === 0);
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

/** Returns those of `names` whose alert fires. */
async function namesOf(prometheus: Prometheus, names: readonly string[]): Promise<readonly string[]> {
  const firing = await prometheus.firing();
  const unreadable = firing.find(({ annotations }) => /<error|<no value>/.test(JSON.stringify(annotations)));
  if (unreadable) {
    throw new Error(`${unreadable.name} cannot be read: ${JSON.stringify(unreadable.annotations)}`);
  }
  return names.filter((name) => firing.some((alert) => alert.name === name));
}

/** The alerts for which somebody would be woken. */
async function calling(prometheus: Prometheus): Promise<readonly string[]> {
  const firing = await prometheus.firing();
  return firing.filter(({ labels }) => labels.severity === "critical").map(({ name }) => name);
}

/** @throws Error where somebody would be called */
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

/** Current values of a panel's queries. */
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
