import { BoardView } from "../board/board-view.tsx";
import { EvaluationBar } from "../board/evaluation-bar.tsx";
import type { GameNode } from "../game/game.ts";
import { OpenButton } from "../input/open-button.tsx";
import { EncodingNote } from "../moves/encoding-note.tsx";
import { MoveList, type MoveNote } from "../moves/move-list.tsx";
import { MoveTools } from "../moves/move-tools.tsx";
import { Share } from "../moves/share.tsx";
import { Steps } from "../moves/steps.tsx";
import { usePage } from "../page.ts";
import { scoreText } from "../parts/score-text.ts";
import { SettingsButton, SettingsPanel } from "../request/settings-panel.tsx";
import { CommentPanel } from "./comment-panel.tsx";
import { CourseGraph } from "./course-graph.tsx";
import { FiguresTable } from "./figures-table.tsx";
import { GameHeader } from "./game-header.tsx";
import { judgedOf } from "./judged.ts";
import { Practice } from "./practice.tsx";
import { ReviewBoard } from "./review-board.tsx";
import { ReviewProgress } from "./review-progress.tsx";
import { ReviewSettings } from "./review-settings.tsx";
import { useScore } from "./use-score.ts";

export function ReviewedGame() {
  const { game, review, display } = usePage();
  const { percent, text } = useScore();
  const noteOf = (node: GameNode): MoveNote | undefined => {
    const move = review.reviewOf(node);
    return move && { score: scoreText(move.evaluation), judged: judgedOf(move) };
  };
  return (
    <BoardView
      bar={
        display.bar.isOn.value && (
          <EvaluationBar percent={percent} score={text} orientation={game.orientation.value} />
        )
      }
      board={<ReviewBoard />}
      tools={
        <>
          <Steps />
          <OpenButton />
          <Share />
          <SettingsButton />
        </>
      }
    >
      <SettingsPanel>
        <ReviewSettings />
      </SettingsPanel>
      <EncodingNote />
      <ReviewProgress />
      {review.practice.side.value === undefined && <CommentPanel />}
      <Practice />
      <CourseGraph />
      <div class="moves-panel panel">
        <MoveList noteOf={noteOf} />
        <MoveTools />
      </div>
      <GameHeader />
      <FiguresTable />
    </BoardView>
  );
}
