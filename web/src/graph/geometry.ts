export interface Place {
  readonly x: number;
  /** The height in percent. */
  readonly y: number;
}

export type Range = readonly [from: number, to: number];

/** Returns the position of a value on an axis, from 0 to 100 percent. */
export function percentOn([from, to]: Range, value: number): number {
  const percent = to === from ? 50 : ((value - from) / (to - from)) * 100;
  return Math.min(100, Math.max(0, Math.round(percent * 100) / 100));
}

/** Returns the `d` attribute of a path through the points, in a box of 100 by 100. */
export function linePath(points: readonly Place[], range: Range): string {
  return points
    .map(({ x, y }, index) => `${index === 0 ? "M" : "L"}${percentOn(range, x)} ${100 - y}`)
    .join("");
}
