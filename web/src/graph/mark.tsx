export type Marked = "inaccuracy" | "mistake" | "blunder";

/** Each judgement has its own shape, for people who cannot distinguish the colours. */
const paths: Readonly<Record<Marked, string>> = {
  inaccuracy: "M-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0Z",
  mistake: "M0 -5L4.8 3.6L-4.8 3.6Z",
  blunder: "M0 -5.5L5.5 0L0 5.5L-5.5 0Z",
};

interface MarkProps {
  readonly name: Marked;
  readonly x?: string;
  readonly y?: string;
}

/** Draws a shape of ten pixels around the point `x`, `y` of the surrounding `svg`. */
export function Mark({ name, x = "0", y = "0" }: MarkProps) {
  return (
    <svg x={x} y={y} overflow="visible" aria-hidden="true">
      <path class={`mark ${name}`} d={paths[name]} />
    </svg>
  );
}
