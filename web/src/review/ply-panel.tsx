import type { MoveReview } from "../../../gen/chess/analysis/v1/game_pb.ts";
import { addressOfPosition } from "../address.ts";
import { scoreText } from "../parts/score-text.ts";
import { texts } from "../texts.ts";
import { clockText } from "./clock-text.ts";
import { judgedOf, labelsOf } from "./judged.ts";
import { goTo, place } from "./looked-at.ts";
import { moveNumber } from "./move-number.ts";
import type { PlayedGame } from "./played-game.ts";
import { explained, progress } from "./run-review.ts";
import { movesTo } from "./shown-place.ts";
import "./ply-panel.css";

const words = texts.review;

/** The review of the move that led to the shown position. */
export function PlyPanel({ game }: { readonly game: PlayedGame }) {
  const { ply } = place.value;
  const reviewed = explained.value[ply - 1];
  return (
    <section class="ply-panel panel" aria-label={words.comments}>
      {ply === 0 ? (
        <>
          <p class="ply-move">{words.startPosition}</p>
          <p class="quiet-text">{words.keys}</p>
        </>
      ) : (
        <>
          <MoveLine game={game} ply={ply} reviewed={reviewed} />
          {reviewed ? <Comment reviewed={reviewed} ply={ply} /> : <p class="quiet-text">{words.notYet}</p>}
          {reviewed && <BestLine game={game} ply={ply} reviewed={reviewed} />}
        </>
      )}
      <a
        class="ply-analyse"
        href={addressOfPosition(game.startFen, movesTo(game, explained.value, place.value))}
      >
        {words.analyse}
      </a>
    </section>
  );
}

interface PlyProps {
  readonly game: PlayedGame;
  readonly ply: number;
  readonly reviewed: MoveReview;
}

function MoveLine({
  game,
  ply,
  reviewed,
}: Omit<PlyProps, "reviewed"> & { readonly reviewed: MoveReview | undefined }) {
  const judged = judgedOf(reviewed);
  const clock = reviewed?.clockMs;
  return (
    <p class="ply-move figures">
      <strong class={judged?.name}>
        {moveNumber(game.startFen, ply)} {game.moves[ply - 1]?.san}
        {judged?.sign}
      </strong>
      <span class="ply-score">{scoreText(reviewed?.evaluation)}</span>
      {clock !== undefined && <span class="quiet-text">{words.clock(clockText(Number(clock)))}</span>}
    </p>
  );
}

function Comment({ reviewed, ply }: Omit<PlyProps, "game">) {
  const judged = judgedOf(reviewed);
  const { best, move, accuracy } = reviewed;
  const state = progress.value;
  const before =
    ply > 1
      ? explained.value[ply - 2]?.evaluation
      : state.kind === "done"
        ? state.review.startEvaluation
        : undefined;
  const [from, to] = [scoreText(before), scoreText(reviewed.evaluation)];
  const bestSan = best?.move && best.move.uci !== move?.uci ? best.move.san : undefined;
  const labels = labelsOf(reviewed).map((label) => words.labels[label]);
  return (
    <>
      <p class="ply-comment">
        {judged
          ? words.comment(words.judgements[judged.name].title, bestSan)
          : bestSan
            ? words.wasBest(bestSan)
            : ""}{" "}
        {labels.map((label) => (
          <span key={label} class="ply-label">
            {label}
          </span>
        ))}
      </p>
      <p class="quiet-text figures">
        {from !== "" && `${words.fromTo(from, to)}. `}
        {words.accuracyOfMove(accuracy.toFixed(0))}
      </p>
    </>
  );
}

/** The line that the engine would have played; each of its moves can be looked at. */
function BestLine({ game, ply, reviewed }: PlyProps) {
  const { best } = reviewed;
  if (best === undefined || best.san.length === 0) {
    return null;
  }
  const { step } = place.value;
  return (
    <div class="best-line">
      <h3 id="best-line-title">
        {words.bestLine} <span class="figures">{scoreText(best.score)}</span>
      </h3>
      <ol class="best-line-moves" aria-labelledby="best-line-title">
        {best.san.map((san, index) => {
          const number = moveNumber(game.startFen, ply + index);
          const isShown = step === index + 1;
          return (
            // The same move may come twice in a line, never at the same place.
            <li key={index}>
              <button
                type="button"
                class="quiet move-button"
                {...(isShown && { "aria-current": "true" as const })}
                onClick={() => goTo({ ply, step: index + 1 })}
              >
                {(index === 0 || number.endsWith(".")) && <span class="quiet-text">{number} </span>}
                {san}
              </button>
            </li>
          );
        })}
      </ol>
      {best.alternatives.length > 0 && (
        <p class="quiet-text figures">
          {words.alternatives}:{" "}
          {best.alternatives.map(({ move, score }) => `${move?.san} ${scoreText(score)}`).join(", ")}
        </p>
      )}
      {step > 0 && (
        <button type="button" onClick={() => goTo({ ply, step: 0 })}>
          {words.backToGame}
        </button>
      )}
    </div>
  );
}
