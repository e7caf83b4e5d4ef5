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

/** How many times as long a search takes with one ply of depth more, on average from depth 8 on. */
export function growthOfDepth({ steps }: Sweep): number {
  const deep = steps.filter(({ value }) => value >= 8);
  const [first, last] = [deep[0], deep.at(-1)];
  if (first === undefined || last === undefined || first === last) {
    throw new Error("growth by depth needs depths from 8 on");
  }
  return (cpuUsOf(last) / cpuUsOf(first)) ** (1 / (last.value - first.value));
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
