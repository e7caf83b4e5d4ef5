/** The shapes that tell points apart, for those who see no colours, too. */
export type MarkShape = "ring" | "triangle" | "diamond";

const paths: Readonly<Record<MarkShape, string>> = {
  ring: "M-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0Z",
  triangle: "M0 -5L4.8 3.6L-4.8 3.6Z",
  diamond: "M0 -5.5L5.5 0L0 5.5L-5.5 0Z",
};

/** A shape around the origin, ten pixels wide: to be put into an `svg`. */
export function Mark({ shape }: { readonly shape: MarkShape }) {
  return <path class={`mark mark-${shape}`} d={paths[shape]} />;
}

/** The same in a line of text, such as a legend. Says nothing itself: words stand beside it. */
export function MarkSign({ shape }: { readonly shape: MarkShape }) {
  return (
    <svg class="mark-sign" viewBox="-7 -7 14 14" width="14" height="14" aria-hidden="true">
      <Mark shape={shape} />
    </svg>
  );
}
