/** The judgements of moves that have a mark. */
export type Marked = "inaccuracy" | "mistake" | "blunder";

/** Shapes tell the judgements apart for people who do not see the colours. */
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

/** A shape of ten pixels in the colour of its judgement, around the place `x`, `y` of the `svg` that it is in. */
export function Mark({ name, x = "0", y = "0" }: MarkProps) {
  return (
    <svg x={x} y={y} overflow="visible" aria-hidden="true">
      <path class={`mark ${name}`} d={paths[name]} />
    </svg>
  );
}
