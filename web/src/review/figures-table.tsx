import type { PhaseReview, PlayerReview } from "../../../gen/chess/analysis/v1/game_pb.ts";
import { texts } from "../texts.ts";
import { blunder, inaccuracy, mistake, phaseNames } from "./judged.ts";
import { progress } from "./run-review.ts";
import "./tables.css";

const words = texts.review;

/** How well both sides played, in all and by phase; nothing before the review is done. */
export function FiguresTable() {
  const state = progress.value;
  const players = state.kind === "done" ? state.review.players : undefined;
  if (players === undefined) {
    return null;
  }
  const { white, black } = players;
  const row = (title: string, cellOf: (player: PlayerReview) => string, isPart = false) => (
    <tr key={title} class={isPart ? "figures-part" : ""}>
      <th scope="row">{title}</th>
      {[white, black].map((player, index) => (
        <td key={index === 0 ? "white" : "black"}>{player ? cellOf(player) : words.none}</td>
      ))}
    </tr>
  );
  const judged = (
    [
      [inaccuracy, "inaccuracies"],
      [mistake, "mistakes"],
      [blunder, "blunders"],
    ] as const
  ).map(([{ name, sign }, field]) =>
    row(`${words.judgements[name].many} ${sign}`, (player) => String(player[field])),
  );
  // If the game has one phase only, its figures would repeat those of the game.
  const played = phaseNames.filter((name) => [white, black].some((player) => player?.phases?.[name]));
  return (
    <section class="figures-panel panel" aria-labelledby="figures-title">
      <h3 id="figures-title">{words.figures}</h3>
      <table class="figures-table figures" aria-labelledby="figures-title">
        <thead>
          <tr>
            <td />
            <th scope="col">{words.white}</th>
            <th scope="col">{words.black}</th>
          </tr>
        </thead>
        <tbody>
          {row(words.accuracy, accuracyOf)}
          {played.length > 1 &&
            played.map((name) =>
              row(
                words.accuracyIn(words.phases[name]),
                ({ phases }) => (phases?.[name] ? accuracyOf(phases[name]) : words.none),
                true,
              ),
            )}
          {row(words.averageLoss, ({ averageCentipawnLoss: loss }) =>
            loss === undefined ? words.none : words.centipawns(loss),
          )}
          {judged}
        </tbody>
      </table>
    </section>
  );
}

function accuracyOf({ accuracy }: PlayerReview | PhaseReview): string {
  return accuracy === undefined ? words.none : words.percent(accuracy.toFixed(1));
}
