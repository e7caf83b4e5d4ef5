import type { Flat, FlatSample } from "./flat.ts";
import { number, table } from "./table.ts";

/** At most so many rows: who wants more reads the JSON. */
const rowsMax = 12;

export function flatHeading({ depth, callers, minutes }: Flat): string {
  return `Full load for ${number(minutes).replace(/\.0+$/, "")} minutes, depth ${depth}, ${callers} callers`;
}

/** By time, every so many samples one. */
export function flatTable(flat: Flat): string {
  const { samples } = flat;
  const every = Math.ceil(samples.length / rowsMax);
  const shown = samples.filter((_, index) => index % every === every - 1 || index === samples.length - 1);
  return table(
    ["minute", "positions a minute", "p99 ms", "event loop p99 ms", "event loop most ms", "memory MiB"],
    shown.map(({ minute, perMinute, p99Ms, loopP99Ms, loopMostMs, rssMib }) => [
      minute.toFixed(1),
      ...[perMinute, p99Ms, loopP99Ms, loopMostMs, rssMib].map(number),
    ]),
  );
}

/** Whether it is flat: the end beside the beginning. */
export function flatVerdict({ samples, loopP99Ms }: Flat): string {
  const tenth = Math.max(1, Math.round(samples.length / 10));
  const mean = (some: readonly FlatSample[], of: (sample: FlatSample) => number) =>
    some.reduce((sum, sample) => sum + of(sample), 0) / some.length;
  // The first one has what is done once.
  const begin = samples.slice(Math.min(1, samples.length - 1)).slice(0, tenth);
  const end = samples.slice(-tenth);
  const rate = ({ perMinute }: FlatSample) => perMinute;
  const memory = ({ rssMib }: FlatSample) => rssMib;
  return [
    `The event loop's p99 delay over the whole time is ${number(loopP99Ms)} ms.`,
    `At the end ${number(mean(end, rate))} positions a minute are answered, at the beginning ${number(mean(begin, rate))}: ${number((mean(end, rate) / mean(begin, rate)) * 100)} %.`,
    `Memory is ${number(mean(end, memory))} MiB at the end and ${number(Math.max(...samples.map(memory)))} MiB at most.`,
  ].join(" ");
}
