import { useRef, useState } from "preact/hooks";
import { areaPath, type Frame, indexByKey, linePath, nearestPoint, percentOn, placeIn } from "./geometry.ts";
import "./graph.css";
import { Mark, type MarkShape } from "./mark.tsx";

/** A point of a graph. */
export interface GraphPoint {
  readonly x: number;
  readonly y: number;
  /** The point in words: `12… Nf6, blunder, 34%`. */
  readonly words: string;
  /** The same in brief, shown under the pointer: `12… Nf6?? −1.30`. */
  readonly tip?: string;
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
  /** Called with the index of a point that the pointer or a key chooses. Without it the graph is a picture. */
  readonly onChoose?: (index: number) => void;
}

/** A line of scores with points to choose. It fills its container's width; the style sheet sets its height. */
export function Graph(props: GraphProps) {
  const { label, points, frame, current, onChoose } = props;
  const place = useRef<HTMLDivElement>(null);
  const [pointed, setPointed] = useState<number>();
  const [isFocused, setIsFocused] = useState(false);
  const chosen = current === undefined ? undefined : points[current];
  const told = pointed === undefined ? (isFocused ? chosen : undefined) : points[pointed];

  const pointAt = ({ clientX, buttons }: PointerEvent) => {
    const box = place.current?.getBoundingClientRect();
    const index = box && nearestPoint(points, frame, (clientX - box.left) / box.width);
    setPointed(index);
    if (index !== undefined && index !== current && buttons === 1) {
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
      pointAt(event);
    },
    onPointerMove: pointAt,
    onPointerLeave: () => setPointed(undefined),
    onFocus: () => setIsFocused(true),
    onBlur: () => setIsFocused(false),
    onKeyDown: (event: KeyboardEvent) => {
      const isPlain = !(event.altKey || event.ctrlKey || event.metaKey || event.shiftKey);
      const index = isPlain ? indexByKey(event.key, current ?? -1, points.length) : undefined;
      if (index !== undefined) {
        event.preventDefault();
        event.stopPropagation();
        // A resting pointer must not hide the value of the point that the key chose.
        setPointed(undefined);
        onChoose(index);
      }
    },
  };
  return (
    <div ref={place} class="graph" {...(slider ?? { role: "img" as const, "aria-label": label })}>
      <Drawing {...props} pointed={pointed} />
      {told?.tip && <Tip text={told.tip} {...placeIn(frame, told)} />}
    </div>
  );
}

/** The value of a point, in the half of the graph where the point is not. It never leaves the graph sideways. */
function Tip({ text, left, top }: { readonly text: string; readonly left: number; readonly top: number }) {
  return (
    <p
      class={`graph-tip graph-tip-${top < 50 ? "below" : "above"} figures`}
      style={{ insetInlineStart: `${left}%`, transform: `translateX(-${left}%)` }}
      aria-hidden="true"
    >
      {text}
    </p>
  );
}

/** Paths are stretched to the place; what must keep its shape stands at percentages of it. */
function Drawing({
  points,
  frame,
  base,
  middle,
  bands = [],
  current,
  pointed,
}: GraphProps & { readonly pointed: number | undefined }) {
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
      {[pointed, current].map((index, at) => {
        const point = index === undefined ? undefined : points[index];
        return point && <Cursor key={at} isPointed={at === 0} {...placeIn(frame, point)} />;
      })}
    </svg>
  );
}

interface CursorProps {
  readonly isPointed: boolean;
  readonly left: number;
  readonly top: number;
}

function Cursor({ isPointed, left, top }: CursorProps) {
  return (
    <g class={isPointed ? "graph-pointed" : "graph-current"}>
      <line class="graph-cursor" x1={`${left}%`} x2={`${left}%`} y1="0" y2="100%" />
      <circle class="graph-cursor-point" cx={`${left}%`} cy={`${top}%`} r="4.5" />
    </g>
  );
}
