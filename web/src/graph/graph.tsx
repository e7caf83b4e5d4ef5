import { useState } from "preact/hooks";
import { linePath, type Place, percentOn, type Range } from "./geometry.ts";
import "./graph.css";
import { Mark, type Marked } from "./mark.tsx";

export interface GraphPoint extends Place {
  /** The text for screen readers, such as `12… Nf6, blunder, White’s chances 34%`. */
  readonly words: string;
  /** The short text beside the pointer, such as `12… Nf6?? −1.30`. */
  readonly tip?: string;
  readonly mark?: Marked;
}

export interface GraphBand {
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

interface GraphProps {
  readonly label: string;
  readonly points: readonly GraphPoint[];
  readonly range: Range;
  readonly bands?: readonly GraphBand[];
  /** The `x` of the selected point. */
  readonly current?: number;
  /** Called with the `x` of the point that the user selects. If undefined, the graph is only a picture. */
  readonly onChoose?: (x: number) => void;
}

export function Graph({ label, points, range, bands = [], current, onChoose }: GraphProps) {
  const [pointed, setPointed] = useState<number>();
  const [isFocused, setIsFocused] = useState(false);
  const [first, last] = [points[0], points.at(-1)];
  const at = (x: number | undefined) => points.find((point) => point.x === x);
  const labelled = at(pointed ?? (isFocused ? current : undefined));
  const leftOf = (x: number) => percentOn(range, x);
  const line = linePath(points, range);
  return (
    <div class="graph" {...(!onChoose && { role: "img" as const, "aria-label": label })}>
      {/* Paths are stretched to the size of the graph. Circles and texts have positions in percent, to keep their shape. */}
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
        {points.map(
          ({ x, y, mark }) => mark && <Mark key={x} name={mark} x={`${leftOf(x)}%`} y={`${100 - y}%`} />,
        )}
        {bands.map(
          ({ name, from, to }) =>
            // Omit the name of a narrow band, because it would overlap the next name.
            leftOf(to) - leftOf(from) >= 14 && (
              <text key={name} class="graph-band-name" x={`${leftOf(from)}%`} y="100%" dx="6" dy="-6">
                {name}
              </text>
            ),
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
          onKeyDown={() => setPointed(undefined)}
        />
      )}
      {labelled?.tip && (
        <p
          class="graph-tip figures"
          style={{
            insetInlineStart: `${leftOf(labelled.x)}%`,
            transform: `translateX(-${leftOf(labelled.x)}%)`,
            [labelled.y > 50 ? "insetBlockEnd" : "insetBlockStart"]: "var(--space-1)",
          }}
          aria-hidden="true"
        >
          {labelled.tip}
        </p>
      )}
    </div>
  );
}
