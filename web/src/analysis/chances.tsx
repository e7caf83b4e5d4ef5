import type { Wdl } from "../../../gen/chess/analysis/v1/analysis_pb.ts";

/** Shows only a draw while `wdl` is undefined. */
export function Chances({ wdl }: { readonly wdl: Wdl | undefined }) {
  const parts = [
    ["White", "white", wdl?.win],
    ["Draw", "draw", wdl?.draw],
    ["Black", "black", wdl?.loss],
  ] as const;
  return (
    <div title="The results of the engine against itself from here">
      <div class="chances-bar" aria-hidden="true">
        {parts.map(([name, share, permille]) => (
          <div
            key={name}
            style={{
              flexGrow: permille ?? (share === "draw" ? 1 : 0),
              background: `var(--${share}-share)`,
            }}
          />
        ))}
      </div>
      <ul class="chances-words row quiet-text figures" aria-label="Chances">
        {parts.map(([name, , permille]) => (
          <li key={name}>
            {name} {permille !== undefined && `${(permille / 10).toFixed(1)}%`}
          </li>
        ))}
      </ul>
    </div>
  );
}
