import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import type { Score } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import type { AlternativeMove, MoveReview } from "../../../gen/chess/analysis/v1/game_pb.ts";
import { commentTexts, type GameNode } from "../game/game.ts";
import { moveNumber } from "../moves/move-number.ts";
import { usePage } from "../page.ts";
import { scoreText } from "../parts/score-text.ts";
import { Countdown } from "../problem/countdown.tsx";
import { clockText } from "./clock-text.ts";
import { judgedOf, remarksOn } from "./judged.ts";
import { numberedMove } from "./numbered-move.ts";
import { useScore } from "./use-score.ts";
import "./comment-panel.css";

/** The review of the move on the board; for a tried move its evaluation. */
export function CommentPanel() {
  const { game, review, analysis, address } = usePage();
  const node = game.at.value;
  const before = game.path.value.at(-2);
  const reviewed = review.reviewOf(node);
  const isTried = !reviewed && node.ply > 0 && review.progress.value.kind === "done";
  const best = reviewed?.best;
  const search = analysis.search.value;
  return (
    <section class="comment-panel panel" aria-label="Comment on the move">
      {node.move ? <MoveLine node={node} reviewed={reviewed} /> : <AtStart />}
      {commentTexts(node.comments, reviewed !== undefined).map((text) => (
        <p key={text}>{text}</p>
      ))}
      {reviewed && <Remarks reviewed={reviewed} />}
      {before && best && <Line title="Best line" from={before} {...best} />}
      {before && best && best.alternatives.length > 0 && (
        <Others from={before} moves={best.alternatives.filter(({ move }) => move?.uci !== node.move?.uci)} />
      )}
      {isTried && search.kind === "waiting" && <Countdown wait={search.wait} />}
      {isTried &&
        analysis.latest.value?.lines.map((line) => (
          <Line key={line.rank} title="Best line" from={node} {...line} />
        ))}
      <div class="row">
        {isTried && (
          <button type="button" onClick={() => game.goTo(review.branch.value)}>
            Back to the game
          </button>
        )}
        <button type="button" onClick={() => address.show("analysis")}>
          Analyse this position
        </button>
      </div>
    </section>
  );
}

/** Before the first move: the summary of the review, in the typography of the page. */
function AtStart() {
  const state = usePage().review.progress.value;
  return (
    <p>
      {state.kind === "done"
        ? state.review.summary.replaceAll("...", "…").replaceAll(" %", "%")
        : "← → step; Shift+← → jump between mistakes."}
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
    <p class="comment-move figures">
      <strong class={judged?.name}>
        {numberedMove(node)}
        {judged?.sign}
      </strong>
      <strong>{useScore().text}</strong>
      {clock !== undefined && <span class="quiet-text">Clock {clockText(Number(clock))}</span>}
    </p>
  );
}

function Remarks({ reviewed }: { readonly reviewed: MoveReview }) {
  const { moves, progress } = usePage().review;
  const state = progress.value;
  const before =
    reviewed.ply > 1
      ? moves.value[reviewed.ply - 2]?.evaluation
      : state.kind === "done"
        ? state.review.startEvaluation
        : undefined;
  const [from, to] = [scoreText(before), scoreText(reviewed.evaluation)];
  const { comment, labels } = remarksOn(reviewed);
  return (
    <p class="comment-remarks figures">
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
  /** The node that the line begins after. */
  readonly from: GameNode;
  readonly score?: Score | undefined;
  /** UCI. */
  readonly moves: readonly string[];
  readonly san: readonly string[];
}

/** A line of the engine. A click on a move tries it and those before it on the board. */
function Line({ title, from, score, moves, san }: LineProps) {
  const { game } = usePage();
  return (
    <Moves title={`${title} ${scoreText(score)}`}>
      {san.map((move, index) => {
        const number = moveNumber(from.position, index);
        return (
          // The same move may come twice in a line, never at the same place.
          <li key={index}>
            <button
              type="button"
              class="quiet move"
              onClick={() => {
                game.goTo(from);
                game.play(moves.slice(0, index + 1));
              }}
            >
              {(index === 0 || number.endsWith(".")) && <span class="quiet-text">{number} </span>}
              {move}
            </button>
          </li>
        );
      })}
    </Moves>
  );
}

function Others({ from, moves }: { readonly from: GameNode; readonly moves: readonly AlternativeMove[] }) {
  const { game } = usePage();
  return (
    <Moves title="Other moves">
      {moves.map(({ rank, move, score }) => (
        <li key={rank}>
          <button
            type="button"
            class="quiet move"
            onClick={() => {
              game.goTo(from);
              game.play([move?.uci ?? ""]);
            }}
          >
            {move?.san} <span class="quiet-text">{scoreText(score)}</span>
          </button>
        </li>
      ))}
    </Moves>
  );
}

function Moves({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  const id = useId();
  return (
    <div class="comment-line figures">
      <h3 id={id}>{title}</h3>
      <ol aria-labelledby={id}>{children}</ol>
    </div>
  );
}
