import type { Wdl } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import { texts } from "../texts.ts";

const words = texts.analysis;

/** The engine's own chances of a win, a draw and a loss. */
export function Chances({ wdl }: { readonly wdl: Wdl | undefined }) {
  const parts = [
    ["win", words.win, wdl?.win],
    ["draw", words.draw, wdl?.draw],
    ["loss", words.loss, wdl?.loss],
  ] as const;
  return (
    <div class="chances" title={words.chancesHint}>
      <div class="chances-bar" aria-hidden="true">
        {parts.map(([kind, , permille]) => (
          <div
            key={kind}
            class={`chances-${kind}`}
            style={{ flexGrow: permille ?? (kind === "draw" ? 1 : 0) }}
          />
        ))}
      </div>
      <dl class="chances-words figures" aria-label={words.chances}>
        {parts.map(([kind, name, permille]) => (
          <div key={kind}>
            <dt>{name}</dt>
            <dd>{permille === undefined ? "" : words.percent(permille)}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
