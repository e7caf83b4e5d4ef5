import { useId, useRef } from "preact/hooks";
import { areaPath, type Frame, indexByKey, linePath, nearestPoint, percentOn, placeIn } from "./geometry.ts";
import "./graph.css";
import { Mark, type MarkShape } from "./mark.tsx";

/** A point of a graph. */
export interface GraphPoint {
  readonly x: number;
  readonly y: number;
  /** The point in words: `12... Nf6, blunder: 34 %`. */
  readonly words: string;
  readonly mark?: MarkShape;
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
  /** From left to right. They may become more while it is shown; `frame` keeps them where they are. */
  readonly points: readonly GraphPoint[];
  readonly frame: Frame;
  /** The value of `y` from which the area under the line is filled. */
  readonly base: number;
  /** A value of `y` with a line of its own, such as that of an equal position. */
  readonly middle?: number;
  readonly bands?: readonly GraphBand[];
  /** The index of the point that is looked at. */
  readonly current?: number | undefined;
  /** Told what is chosen by pointer or key. Without it the graph is a picture. */
  readonly onChoose?: (index: number) => void;
  /** The same as a table, for those who would rather read: the head of its columns, and a row a point. */
  readonly table?: {
    readonly title: string;
    readonly columns: readonly string[];
    readonly rows: readonly (readonly string[])[];
  };
}

/** A line of scores, of which a point can be chosen. As wide as its place; its height is the style sheet's. */
export function Graph(props: GraphProps) {
  const { label, points, current, onChoose, table } = props;
  const place = useRef<HTMLDivElement>(null);
  const chosen = current === undefined ? undefined : points[current];

  const chooseAt = ({ clientX }: PointerEvent) => {
    const box = place.current?.getBoundingClientRect();
    const index = box && nearestPoint(points, props.frame, (clientX - box.left) / box.width);
    if (index !== undefined && index !== current) {
      onChoose?.(index);
    }
  };
  const slider = onChoose && {
    role: "slider" as const,
    "aria-label": label,
    tabIndex: 0,
    "aria-valuemin": 0,
    "aria-valuemax": Math.max(0, points.length - 1),
    "aria-valuenow": current ?? 0,
    "aria-valuetext": chosen?.words,
    onPointerDown: (event: PointerEvent) => {
      place.current?.setPointerCapture(event.pointerId);
      chooseAt(event);
    },
    onPointerMove: (event: PointerEvent) => {
      if (event.buttons === 1) {
        chooseAt(event);
      }
    },
    onKeyDown: (event: KeyboardEvent) => {
      const isPlain = !(event.altKey || event.ctrlKey || event.metaKey || event.shiftKey);
      const index = isPlain ? indexByKey(event.key, current ?? -1, points.length) : undefined;
      if (index !== undefined) {
        event.preventDefault();
        event.stopPropagation();
        onChoose(index);
      }
    },
  };
  return (
    <>
      <div ref={place} class="graph" {...(slider ?? { role: "img" as const, "aria-label": label })}>
        <Drawing {...props} />
      </div>
      {table && <PointsTable {...table} />}
    </>
  );
}

/** Paths are stretched to the place; what must keep its shape stands at percentages of it. */
function Drawing({ points, frame, base, middle, bands = [], current }: GraphProps) {
  const chosen = current === undefined ? undefined : points[current];
  const middleTop = middle === undefined ? undefined : `${100 - percentOn(frame.y, middle)}%`;
  return (
    <svg class="graph-drawing" width="100%" height="100%" aria-hidden="true">
      {bands.map(({ name, from, to }, index) => {
        const [left, right] = [percentOn(frame.x, from), percentOn(frame.x, to)];
        return (
          <rect
            key={name}
            class={`graph-band graph-band-${index % 2}`}
            x={`${left}%`}
            width={`${right - left}%`}
            height="100%"
          />
        );
      })}
      <svg viewBox="0 0 100 100" preserveAspectRatio="none" width="100%" height="100%" aria-hidden="true">
        <path class="graph-area" d={areaPath(points, frame, base)} />
        <path class="graph-line" d={linePath(points, frame)} vector-effect="non-scaling-stroke" />
      </svg>
      {middleTop !== undefined && (
        <line class="graph-middle" x1="0" x2="100%" y1={middleTop} y2={middleTop} />
      )}
      {bands.map(({ name, from, to }) => {
        const left = percentOn(frame.x, from);
        // A name that has no room would run into the next.
        return percentOn(frame.x, to) - left < 14 ? undefined : (
          <text key={name} class="graph-band-name" x={`${left}%`} y="100%" dx="6" dy="-6">
            {name}
          </text>
        );
      })}
      {points.map((point) => {
        const { left, top } = placeIn(frame, point);
        return (
          point.mark && (
            <svg key={point.x} x={`${left}%`} y={`${top}%`} overflow="visible" aria-hidden="true">
              <Mark shape={point.mark} />
            </svg>
          )
        );
      })}
      {chosen && <Cursor {...placeIn(frame, chosen)} />}
    </svg>
  );
}

function Cursor({ left, top }: { readonly left: number; readonly top: number }) {
  return (
    <>
      <line class="graph-cursor" x1={`${left}%`} x2={`${left}%`} y1="0" y2="100%" />
      <circle class="graph-cursor-point" cx={`${left}%`} cy={`${top}%`} r="4.5" />
    </>
  );
}

function PointsTable({ title, columns, rows }: NonNullable<GraphProps["table"]>) {
  const id = useId();
  return (
    <details class="graph-table">
      <summary id={id}>{title}</summary>
      <table aria-labelledby={id}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row[0]}>
              {row.map((cell, index) =>
                index === 0 ? (
                  <th key={columns[index]} scope="row">
                    {cell}
                  </th>
                ) : (
                  <td key={columns[index]}>{cell}</td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
