/** A point of a graph. */
export interface Place {
  readonly x: number;
  /** In percent, upwards. */
  readonly y: number;
}

/** The part of the x axis that a graph shows. */
export type Range = readonly [from: number, to: number];

/** Returns the place of a value on an axis in percent, clamped to 0 to 100. */
export function percentOn([from, to]: Range, value: number): number {
  const percent = to === from ? 50 : ((value - from) / (to - from)) * 100;
  return Math.min(100, Math.max(0, Math.round(percent * 100) / 100));
}

/** The line through the points, as the `d` of a path in a box of 100 by 100; empty without points. */
export function linePath(points: readonly Place[], range: Range): string {
  return points
    .map(({ x, y }, index) => `${index === 0 ? "M" : "L"}${percentOn(range, x)} ${100 - y}`)
    .join("");
}
