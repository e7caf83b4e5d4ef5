const paths = {
  first: "M4 3v10M13 3L6.5 8l6.5 5z",
  back: "M11 3L4.5 8l6.5 5z",
  forward: "M5 3l6.5 5L5 13z",
  last: "M12 3v10M3 3l6.5 5L3 13z",
  flip: "M5 14V3M2 6l3-3 3 3M11 2v11M8 10l3 3 3-3",
  draw: "M3 13L12.5 3.5M6 3.5h6.5V10",
  display: "M1.5 8s2.5-4 6.5-4 6.5 4 6.5 4-2.5 4-6.5 4-6.5-4-6.5-4M8 6.5a1.5 1.5 0 1 1 0 3 1.5 1.5 0 0 1 0-3",
  help: "M5.5 6a2.5 2.5 0 1 1 3.4 2.3c-.6.3-.9.7-.9 1.5M8 12.5v.01",
  setUp: "M3 13l.5-3L10 3.5 12.5 6 6 12.5zM9 4.5L11.5 7",
  link: "M7 9l2-2M6 7L4 9a2 2 0 0 0 3 3l2-2M10 9l2-2a2 2 0 0 0-3-3L7 6",
  copy: "M6 5h7v9H6zM4 11H3V2h7v1",
  download: "M8 2v8M4.5 6.5L8 10l3.5-3.5M3 13h10",
  open: "M2 13V3h4l1.5 2H13v2M2 13l2-6h11l-2 6z",
  add: "M8 3v10M3 8h10",
  redo: "M12.5 6H6a3.5 3.5 0 0 0 0 7h4M9.5 3l3 3-3 3",
  move: "M8 2v12M2 8h12M6 4l2-2 2 2M6 12l2 2 2-2M4 6L2 8l2 2M12 6l2 2-2 2",
  settings: "M2 5h5M11 5h3M9 3a2 2 0 1 1 0 4 2 2 0 0 1 0-4M2 11h2M8 11h6M6 9a2 2 0 1 1 0 4 2 2 0 0 1 0-4",
  remove: "M3 5h10M6 5V3h4v2M4.5 5l.5 9h6l.5-9",
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
