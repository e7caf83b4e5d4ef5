import type { PhaseReview, PlayerReview } from "../../../gen/chess/analysis/v1/game_pb.ts";
import { usePage } from "../page.ts";
import { allJudged, phases } from "./judged.ts";
import "./figures-table.css";

const counts = { inaccuracy: "inaccuracies", mistake: "mistakes", blunder: "blunders" } as const;

export function FiguresTable() {
  const { progress, isStale } = usePage().review;
  const state = progress.value;
  if (state.kind !== "done" || isStale.value) {
    return null;
  }
  const { players, engine, search } = state.review;
  const both = [players?.white, players?.black];
  const row = (title: string, cellOf: (player: PlayerReview) => string, isPart = false) => (
    <tr key={title} class={isPart ? "quiet-text" : ""}>
      <th scope="row">{title}</th>
      {both.map((player, index) => (
        <td key={index === 0 ? "white" : "black"}>{player ? cellOf(player) : ""}</td>
      ))}
    </tr>
  );
  // The figures of a single phase would repeat the figures of the game.
  const played = phases.filter(({ name }) => both.some((player) => player?.phases?.[name]));
  return (
    <section class="figures-panel panel" aria-labelledby="figures-title">
      <h3 id="figures-title">Accuracy and mistakes</h3>
      <table class="figures-table figures" aria-labelledby="figures-title">
        <thead class="quiet-text">
          <tr>
            <td />
            <th scope="col">White</th>
            <th scope="col">Black</th>
          </tr>
        </thead>
        <tbody>
          {both.some((player) => player?.accuracy !== undefined) && row("Accuracy", accuracyOf)}
          {played.length > 1 &&
            played.map(({ name }) =>
              row(
                `Mean of the moves in the ${name}`,
                (player) => (player.phases?.[name] ? accuracyOf(player.phases[name]) : ""),
                true,
              ),
            )}
          {row("Average loss", ({ averageCentipawnLoss: loss }) => (loss === undefined ? "" : `${loss} cp`))}
          {allJudged.map(({ name, many, sign }) =>
            row(`${many} ${sign}`, (player) => String(player[counts[name]])),
          )}
        </tbody>
      </table>
      {played.length > 1 && (
        <p class="quiet-text">
          Bad moves and sharp positions weigh more in the accuracy of the game, so it can be lower than each
          of the means.
        </p>
      )}
      {engine && search && (
        <p class="quiet-text figures">
          {[
            engine.name,
            ...(search.limits?.depth === undefined ? [] : [`depth ${search.limits.depth}`]),
            ...(search.limits?.nodes === undefined ? [] : [`${search.limits.nodes} nodes`]),
            `${search.positions} positions${search.cached > 0 ? ` (${search.cached} from cache)` : ""}`,
          ].join(", ")}
        </p>
      )}
    </section>
  );
}

function accuracyOf({ accuracy }: PlayerReview | PhaseReview): string {
  return accuracy === undefined ? "" : `${accuracy.toFixed(1)}%`;
}
