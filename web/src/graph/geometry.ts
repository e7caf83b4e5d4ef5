/** A point of a graph, in the units of its axes. */
export interface Place {
  readonly x: number;
  readonly y: number;
}

/** The range of both axes, in their units; `y` grows upwards. */
export interface Frame {
  readonly x: readonly [from: number, to: number];
  readonly y: readonly [from: number, to: number];
}

/** Returns the place of a value on an axis in percent, clamped to 0 to 100. */
export function percentOn([from, to]: readonly [number, number], value: number): number {
  const percent = to === from ? 50 : ((value - from) / (to - from)) * 100;
  return Math.min(100, Math.max(0, Math.round(percent * 100) / 100));
}

/** Returns the place of a point in percent from the left and from the top. */
export function placeIn(frame: Frame, { x, y }: Place): { readonly left: number; readonly top: number } {
  return { left: percentOn(frame.x, x), top: Math.round((100 - percentOn(frame.y, y)) * 100) / 100 };
}

/** The line through the points, as the `d` of a path in a box of 100 by 100; empty without points. */
export function linePath(points: readonly Place[], frame: Frame): string {
  return points
    .map((point, index) => {
      const { left, top } = placeIn(frame, point);
      return `${index === 0 ? "M" : "L"}${left} ${top}`;
    })
    .join("");
}

/** Returns the SVG path of the area between the line and `base`, a value of `y`; empty with fewer than two points. */
export function areaPath(points: readonly Place[], frame: Frame, base: number): string {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined || first === last) {
    return "";
  }
  const ends = [last, first].map(({ x }) => placeIn(frame, { x, y: base }));
  return `${linePath(points, frame)}${ends.map(({ left, top }) => `L${left} ${top}`).join("")}Z`;
}

/** The index of the point whose `x` is nearest to a place, 0 to 1 from the left; undefined without points. */
export function nearestPoint(points: readonly Place[], frame: Frame, fraction: number): number | undefined {
  const [from, to] = frame.x;
  const x = from + (to - from) * fraction;
  let nearest: number | undefined;
  let distance = Number.POSITIVE_INFINITY;
  for (const [index, point] of points.entries()) {
    const away = Math.abs(point.x - x);
    if (away < distance) {
      nearest = index;
      distance = away;
    }
  }
  return nearest;
}

/** The steps that Page Up and Page Down move. */
const page = 10;

/** The index that a key leads to from `current`, as in every slider; undefined for a key that leads nowhere. */
export function indexByKey(key: string, current: number, count: number): number | undefined {
  const steps: Readonly<Record<string, number>> = {
    ArrowLeft: current - 1,
    ArrowDown: current - 1,
    ArrowRight: current + 1,
    ArrowUp: current + 1,
    PageDown: current - page,
    PageUp: current + page,
    Home: 0,
    End: count - 1,
  };
  const index = steps[key];
  return index === undefined || count === 0 ? undefined : Math.min(count - 1, Math.max(0, index));
}
