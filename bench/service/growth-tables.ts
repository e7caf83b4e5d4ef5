import type { Step, Sweep, SweepName } from "./growth.ts";
import { figures, type Spread, spreadOf } from "./statistics.ts";
import { median, number, table, withSpread } from "./table.ts";

/** What grows, and what stays as it is. */
export const sweepTitles: Readonly<Record<SweepName, string>> = {
  callers: "Callers, depth 8",
  slots: "Slots, depth 8, 64 callers",
  multipv: "Lines (multipv), depth 8, 8 callers",
  depth: "Depth, 8 callers",
  streams: "Open streams, depth 8: each is a search with its progress as events",
  batch: "Positions in a batch, depth 8, 2 callers",
  "at-once": "Callers, of an engine that answers at once: the service alone",
};

export function sweepTable({ name, steps }: Sweep): string {
  return table(
    [
      name === "at-once" ? "callers" : name,
      "positions a second",
      "p50 ms",
      "p99 ms",
      "server CPU µs a position",
      "engines' CPU µs a position",
      "cores: server",
      "memory MiB",
    ],
    steps.map((step) => [
      String(step.value),
      withSpread(perSecondOf(step)),
      median(spreadOf(step.turns, figures.p50Ms)),
      median(spreadOf(step.turns, figures.p99Ms)),
      median(divided(spreadOf(step.turns, figures.serverUs), step.positions)),
      median(divided(spreadOf(step.turns, figures.enginesUs), step.positions)),
      median(spreadOf(step.turns, figures.serverCores)),
      median(spreadOf(step.turns, figures.rssMib)),
    ]),
  );
}

export function perSecondOf({ turns, positions }: Step): Spread | undefined {
  return divided(spreadOf(turns, figures.perSecond), 1 / positions);
}

function divided(figure: Spread | undefined, by: number): Spread | undefined {
  return figure && { median: figure.median / by, least: figure.least / by, most: figure.most / by };
}

/** Of the cores, so much is to be used on average. */
export const usedShare = 0.7;

const rates = [10, 50, 100, 500, 1000] as const;

/** How many cores serve so many positions a second, by the processor time that a position of each depth takes. */
export function coresTable({ steps }: Sweep): string {
  return table(
    ["depth", "CPU ms a position", ...rates.map((rate) => `${whole(rate)} a second`)],
    steps.map((step) => {
      const us = cpuUsOf(step);
      const cores = rates.map((rate) => whole(Math.max(1, Math.ceil((rate * us) / 1e6 / usedShare))));
      return [String(step.value), number(us / 1000), ...cores];
    }),
  );
}

const whole = (value: number) => value.toLocaleString("en");

/** What a position takes, with the server's part. */
function cpuUsOf({ turns }: Step): number {
  return (spreadOf(turns, figures.serverUs)?.median ?? 0) + (spreadOf(turns, figures.enginesUs)?.median ?? 0);
}

/** How many times as long a search takes with one ply of depth more, from depth 8 on: the line of least squares through the logarithms. */
export function growthOfDepth({ steps }: Sweep): number {
  const deep = steps.filter(({ value }) => value >= 8);
  const mean = (of: (step: Step) => number) => deep.reduce((sum, step) => sum + of(step), 0) / deep.length;
  const log = (step: Step) => Math.log(cpuUsOf(step));
  const [middle, height] = [mean(({ value }) => value), mean(log)];
  const together = mean((step) => (step.value - middle) * (log(step) - height));
  return Math.exp(together / mean(({ value }) => (value - middle) ** 2));
}

/** Of the processor time of a position at a depth, what the server takes, in percent. */
export function serverShare(sweep: Sweep, depth: number): number {
  return Math.round((serverUsAt(sweep, depth) / cpuUsOf(stepAt(sweep, depth))) * 100);
}

/** Processor time that the server takes for a position at a depth, in microseconds. */
export function serverUsAt(sweep: Sweep, depth: number): number {
  return spreadOf(stepAt(sweep, depth).turns, figures.serverUs)?.median ?? Number.NaN;
}

function stepAt({ steps }: Sweep, depth: number): Step {
  const step = steps.find(({ value }) => value === depth);
  if (step === undefined) {
    throw new Error(`growth by depth has no depth ${depth}`);
  }
  return step;
}

/** The most that one process answers, and how much of a core its thread takes then. */
export function endOfOneProcess({ steps }: Sweep): {
  readonly perSecond: number;
  readonly callers: number;
  readonly cores: number;
} {
  const [best, ...others] = steps;
  if (best === undefined) {
    throw new Error("nothing was measured");
  }
  const rate = (step: Step) => perSecondOf(step)?.median ?? 0;
  const most = others.reduce((found, step) => (rate(step) > rate(found) ? step : found), best);
  return {
    perSecond: rate(most),
    callers: most.value,
    cores: spreadOf(most.turns, figures.serverCores)?.median ?? 0,
  };
}
