import { type Axis, bars, type Curve, plot } from "../plot.ts";
import type { Flat, FlatSample } from "./flat.ts";
import { flatHeading } from "./flat-table.ts";
import type { Step, Sweep } from "./growth.ts";
import { perSecondOf, sweepTitles } from "./growth-tables.ts";
import { headingOf } from "./row-tables.ts";
import type { Row } from "./rows.ts";
import { figures, spreadOf, type Turn } from "./statistics.ts";

/** Positions a minute of everybody, new questions only. */
export function rowsPicture(rows: readonly Row[]): string {
  const groups = rows
    .filter(({ kind }) => kind === "new")
    .map((row) => ({
      title: headingOf(row),
      bars: row.measured.map(({ name, turns }) => ({
        name,
        value: spreadOf(turns, figures.perMinute)?.median ?? 0,
      })),
    }));
  return bars("Positions a minute", "", groups);
}

export function flatPicture(flat: Flat): string {
  const { samples } = flat;
  const curve = (title: string, unit: string, of: (sample: FlatSample) => number): Curve => ({
    title,
    unit,
    values: samples.map(of),
  });
  return plot(flatHeading(flat), { values: samples.map(({ minute }) => minute), unit: "minutes" }, [
    curve("positions a minute", "", ({ perMinute }) => perMinute),
    curve("latency, p99", "ms", ({ p99Ms }) => p99Ms),
    curve("delay of the event loop, p99", "ms", ({ loopP99Ms }) => loopP99Ms),
    curve("RSS of the server", "MiB", ({ rssMib }) => rssMib),
  ]);
}

export function sweepPicture({ name, steps }: Sweep): string {
  const values = steps.map(({ value }) => value);
  const logarithmic = (values.at(-1) ?? 0) > 20;
  const axis: Axis = { values, unit: name === "at-once" ? "callers" : name, logarithmic };
  const curve = (title: string, unit: string, of: (turn: Turn) => number | undefined): Curve => ({
    title,
    unit,
    values: steps.map(({ turns }) => spreadOf(turns, of)?.median ?? 0),
  });
  const perSecond = (step: Step) => perSecondOf(step)?.median ?? 0;
  return plot(sweepTitles[name], axis, [
    { title: "positions a second", unit: "", values: steps.map(perSecond) },
    curve("latency of a request, p99", "ms", figures.p99Ms),
    curve("cores that the server takes", "", figures.serverCores),
    curve("RSS of the server", "MiB", figures.rssMib),
  ]);
}
