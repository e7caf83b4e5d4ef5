import type { Row } from "./rows.ts";
import { figures, ratioOf, type Spread, spreadOf } from "./statistics.ts";
import { number, table, withSpread } from "./table.ts";

export function headingOf({ kind, path, depth, callers, perSecond }: Row): string {
  const by = callers === 1 ? "one caller" : `${callers} callers`;
  switch (kind) {
    case "new":
      return `New questions, ${path}, depth ${depth}, ${by}`;
    case "repeated":
      return `The same hundred questions again and again, ${path}, depth ${depth}, ${by}`;
    case "stored":
      return `A hundred questions again and again, by where the answers are from, ${path}, depth ${depth}, ${by}`;
    case "cached":
      return `One question again and again, ${path}, ${by}${perSecond === undefined ? "" : `, ${number(perSecond)} a second`}`;
  }
}

export function rowTable({ kind, measured }: Row): string {
  const [first] = measured;
  if (first === undefined) {
    throw new Error("no peer was measured");
  }
  const times = `× ${first.name}`;
  const median = (figure: Spread) => number(figure.median);
  const perSecond = kind === "cached" || kind === "stored";
  return table(
    [
      "",
      perSecond ? "answers a second" : "positions a minute",
      times,
      "p50 ms",
      "p99 ms",
      times,
      "server CPU µs a request",
      times,
      "engines' CPU µs",
      "memory MiB",
    ],
    measured.map(({ name, turns }) => [
      name,
      withSpread(spreadOf(turns, perSecond ? figures.perSecond : figures.perMinute)),
      withSpread(ratioOf(turns, first.turns, figures.perMinute)),
      median(spreadOf(turns, figures.p50Ms)),
      median(spreadOf(turns, figures.p99Ms)),
      median(ratioOf(turns, first.turns, figures.p99Ms)),
      withSpread(spreadOf(turns, figures.serverUs)),
      median(ratioOf(turns, first.turns, figures.serverUs)),
      median(spreadOf(turns, figures.enginesUs)),
      median(spreadOf(turns, figures.rssMib)),
    ]),
  );
}
