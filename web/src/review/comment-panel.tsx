import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import type { Score } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import type { AlternativeMove, MoveReview } from "../../../gen/chess/analysis/v1/game_pb.ts";
import { commentTexts, type GameNode } from "../game/game.ts";
import { clockText } from "../moves/clock-text.ts";
import { moveNumber, numberedMove } from "../moves/move-number.ts";
import { usePage } from "../page.ts";
import { resultText } from "../parts/result-text.ts";
import { scoreText } from "../parts/score-text.ts";
import { Countdown } from "../problem/countdown.tsx";
import { judgedOf, remarksOn } from "./judged.ts";
import { useScore } from "./use-score.ts";
import "./comment-panel.css";

export function CommentPanel() {
  const { game, review, analysis, address, display } = usePage();
  const node = game.at.value;
  const before = game.path.value.at(-2);
  const reviewed = review.reviewOf(node);
  const isTried = !reviewed && node.ply > 0 && review.progress.value.kind === "done";
  const best = reviewed?.best;
  const search = analysis.search.value;
  // The scores of the other moves are the engine's: endgame tables may know that one of them gives the result away.
  const isKnown = before && (review.reviewOf(before) ?? reviewed)?.tablebase !== undefined;
  const others = isKnown ? [] : (best?.alternatives ?? []);
  return (
    <section class="comment-panel panel" aria-label="Comment on the move">
      <div class="comment-head row">
        {node.move ? <MoveLine node={node} reviewed={reviewed} /> : <AtStart />}
        {isTried && (
          <button type="button" onClick={() => game.goTo(review.branch.value)}>
            Back to the game
          </button>
        )}
        <button type="button" onClick={() => address.show("analysis")}>
          Analyse<span class="heard-only"> this position</span>
        </button>
      </div>
      {commentTexts(node.comments, reviewed !== undefined).map((text) => (
        <p key={text}>{text}</p>
      ))}
      {before && reviewed && <Remarks before={before} reviewed={reviewed} />}
      {before && best && display.lines.isOn.value && <Line title="Best line" from={before} {...best} />}
      {before && others.length > 0 && display.lines.isOn.value && (
        <Others from={before} moves={others.filter(({ move }) => move?.uci !== node.move?.uci)} />
      )}
      {isTried && search.kind === "waiting" && <Countdown wait={search.wait} />}
      {isTried &&
        analysis.latest.value?.lines.map((line) => (
          <Line key={line.rank} title="Best line" from={node} {...line} />
        ))}
    </section>
  );
}

function AtStart() {
  const { progress, isStale } = usePage().review;
  const state = progress.value;
  return (
    <p>
      {state.kind === "done" && !isStale.value
        ? state.review.summary.replaceAll("...", "…").replaceAll(" %", "%")
        : "Step through the game to see the comments on its moves."}
    </p>
  );
}

function MoveLine({
  node,
  reviewed,
}: {
  readonly node: GameNode;
  readonly reviewed: MoveReview | undefined;
}) {
  const judged = judgedOf(reviewed);
  const clock = reviewed?.clockMs;
  return (
    <p class="comment-move row figures">
      <strong class={judged?.name}>
        {numberedMove(node)}
        {judged?.sign}
      </strong>
      <strong>{useScore().text}</strong>
      {reviewed?.tablebase && <span>{resultText(reviewed.tablebase)}</span>}
      {clock !== undefined && <span class="quiet-text">Clock {clockText(Number(clock))}</span>}
    </p>
  );
}

function Remarks({ before, reviewed }: { readonly before: GameNode; readonly reviewed: MoveReview }) {
  const { scoreOf, reviewOf } = usePage().review;
  // The service judges a move by the results that endgame tables know.
  const from = resultText(reviewOf(before)?.tablebase) ?? scoreText(scoreOf(before));
  const to = resultText(reviewed.tablebase) ?? scoreText(reviewed.evaluation);
  const { comment, labels } = remarksOn(reviewed);
  return (
    <p class="row figures">
      {comment !== "" && <span>{comment}</span>}
      {labels.map((label) => (
        <span key={label} class="comment-label">
          {label}
        </span>
      ))}
      <span class="quiet-text">
        {from !== "" && `${from} → ${to}, `}accuracy {reviewed.accuracy.toFixed(0)}%
      </span>
    </p>
  );
}

interface LineProps {
  readonly title: string;
  readonly from: GameNode;
  readonly score?: Score | undefined;
  readonly moves: readonly string[];
  readonly san: readonly string[];
}

function Line({ title, from, score, moves, san }: LineProps) {
  return (
    <Moves title={`${title} ${scoreText(score)}`}>
      {san.map((move, index) => {
        const number = moveNumber(from.position, index);
        return (
          // A line can contain the same move twice, so the index is the key.
          <TryButton key={index} from={from} moves={moves.slice(0, index + 1)}>
            {(index === 0 || number.endsWith(".")) && <span class="quiet-text">{number} </span>}
            {move}
          </TryButton>
        );
      })}
    </Moves>
  );
}

function Others({ from, moves }: { readonly from: GameNode; readonly moves: readonly AlternativeMove[] }) {
  return (
    <Moves title="Other moves">
      {moves.map(({ rank, move, score }) => (
        <TryButton key={rank} from={from} moves={move ? [move.uci] : []}>
          {move?.san} <span class="quiet-text">{scoreText(score)}</span>
        </TryButton>
      ))}
    </Moves>
  );
}

interface TryButtonProps extends Pick<LineProps, "from" | "moves"> {
  readonly children: ComponentChildren;
}

function TryButton({ from, moves, children }: TryButtonProps) {
  const { game } = usePage();
  const play = () => {
    game.goTo(from);
    game.play(moves);
  };
  return (
    <li>
      <button type="button" class="quiet move" onClick={play}>
        {children}
      </button>
    </li>
  );
}

function Moves({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  const id = useId();
  return (
    <div class="figures">
      <h3 id={id} class="quiet-text">
        {title}
      </h3>
      <ol class="comment-moves" aria-labelledby={id}>
        {children}
      </ol>
    </div>
  );
}
