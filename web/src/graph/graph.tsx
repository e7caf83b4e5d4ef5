import { useState } from "preact/hooks";
import { linePath, type Place, percentOn, type Range } from "./geometry.ts";
import "./graph.css";
import { Mark, type Marked } from "./mark.tsx";

/** A point of a graph; `x` is a whole number. */
export interface GraphPoint extends Place {
  /** The point in words: `12… Nf6, blunder, 34%`. */
  readonly words: string;
  /** The same in brief, shown under the pointer: `12… Nf6?? −1.30`. */
  readonly tip?: string;
  readonly mark?: Marked;
}

/** A stretch of the x axis with a name, such as a phase of a game. */
export interface GraphBand {
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

export interface GraphProps {
  /** The subject of the graph. */
  readonly label: string;
  /** From left to right. If points are added, `range` keeps the others where they are. */
  readonly points: readonly GraphPoint[];
  readonly range: Range;
  readonly bands?: readonly GraphBand[];
  /** The `x` of the point that is looked at. */
  readonly current?: number;
  /** Called with the `x` of a point that the pointer or a key chooses. Without it the graph is a picture. */
  readonly onChoose?: (x: number) => void;
}

/** A line of percentages with points to choose. It fills its container's width; the style sheet sets its height. */
export function Graph({ label, points, range, bands = [], current, onChoose }: GraphProps) {
  const [pointed, setPointed] = useState<number>();
  const [isFocused, setIsFocused] = useState(false);
  const [first, last] = [points[0], points.at(-1)];
  const at = (x: number | undefined) => points.find((point) => point.x === x);
  const told = at(pointed ?? (isFocused ? current : undefined));
  const leftOf = (x: number) => percentOn(range, x);
  const line = linePath(points, range);
  return (
    <div class="graph" {...(!onChoose && { role: "img" as const, "aria-label": label })}>
      {/* Paths are stretched to the place; what must keep its shape stands at percentages of it. */}
      <svg class="graph-drawing" width="100%" height="100%" aria-hidden="true">
        {bands.map(({ name, from, to }) => (
          <rect
            key={name}
            class="graph-band"
            x={`${leftOf(from)}%`}
            width={`${leftOf(to) - leftOf(from)}%`}
            height="100%"
          />
        ))}
        <svg viewBox="0 0 100 100" preserveAspectRatio="none" width="100%" height="100%" aria-hidden="true">
          {first && last && (
            <path class="graph-area" d={`${line}L${leftOf(last.x)} 100L${leftOf(first.x)} 100Z`} />
          )}
          <path class="graph-line" d={line} vector-effect="non-scaling-stroke" />
        </svg>
        <line class="graph-middle" x1="0" x2="100%" y1="50%" y2="50%" />
        {bands.map(
          ({ name, from, to }) =>
            // A name that has no room would run into the next.
            leftOf(to) - leftOf(from) >= 14 && (
              <text key={name} class="graph-band-name" x={`${leftOf(from)}%`} y="100%" dx="6" dy="-6">
                {name}
              </text>
            ),
        )}
        {points.map(
          ({ x, y, mark }) => mark && <Mark key={x} name={mark} x={`${leftOf(x)}%`} y={`${100 - y}%`} />,
        )}
        {[at(pointed), at(current)].map(
          (point, index) =>
            point && (
              <g key={index} class={index === 0 ? "graph-cursor graph-pointed" : "graph-cursor"}>
                <line x1={`${leftOf(point.x)}%`} x2={`${leftOf(point.x)}%`} y1="0" y2="100%" />
                <circle cx={`${leftOf(point.x)}%`} cy={`${100 - point.y}%`} r="4.5" />
              </g>
            ),
        )}
      </svg>
      {onChoose && first && last && (
        <input
          class="graph-slider"
          style={{
            insetInlineStart: `${leftOf(first.x)}%`,
            inlineSize: `${leftOf(last.x) - leftOf(first.x)}%`,
          }}
          type="range"
          aria-label={label}
          aria-valuetext={at(current)?.words ?? ""}
          min={first.x}
          max={last.x}
          value={current ?? first.x}
          onInput={({ currentTarget }) => onChoose(currentTarget.valueAsNumber)}
          onPointerMove={({ offsetX, currentTarget }) =>
            setPointed(Math.round(first.x + ((last.x - first.x) * offsetX) / currentTarget.clientWidth))
          }
          onPointerLeave={() => setPointed(undefined)}
          onFocus={() => setIsFocused(true)}
          onBlur={() => setIsFocused(false)}
          // A resting pointer must not hide the value of the point that the key chose.
          onKeyDown={() => setPointed(undefined)}
        />
      )}
      {told?.tip && (
        // In the half of the graph where the point is not, and never beyond the sides of the graph.
        <p
          class="graph-tip figures"
          style={{
            insetInlineStart: `${leftOf(told.x)}%`,
            transform: `translateX(-${leftOf(told.x)}%)`,
            [told.y > 50 ? "insetBlockEnd" : "insetBlockStart"]: "var(--space-1)",
          }}
          aria-hidden="true"
        >
          {told.tip}
        </p>
      )}
    </div>
  );
}
