import { Board } from "../board/board.tsx";
import { BoardView } from "../board/board-view.tsx";
import { texts } from "../texts.ts";
import { CourseGraph } from "./course-graph.tsx";
import { FiguresTable } from "./figures-table.tsx";
import { GameHeader } from "./game-header.tsx";
import { textFault } from "./game-text.ts";
import { GlyphOnBoard } from "./glyph-on-board.tsx";
import { judgedOf } from "./judged.ts";
import { isBoardShown, orientation, place } from "./looked-at.ts";
import { moveNumber } from "./move-number.ts";
import { MovesTable } from "./moves-table.tsx";
import type { PlayedGame } from "./played-game.ts";
import { PlyPanel } from "./ply-panel.tsx";
import { ReviewProgress } from "./review-progress.tsx";
import { explained } from "./run-review.ts";
import { missedMove, positionAt } from "./shown-place.ts";
import { Steps } from "./steps.tsx";
import { TakeAway } from "./take-away.tsx";

/** A game with as much of its review as has come. */
export function ReviewedGame({ game }: { readonly game: PlayedGame }) {
  if (textFault.value) {
    // Stands beside the text.
    return null;
  }
  if (!isBoardShown.value) {
    return <ReviewProgress game={game} />;
  }
  const { ply, step } = place.value;
  const { fen, move } = positionAt(game, explained.value, place.value);
  const reviewed = explained.value[ply - 1];
  const judged = step === 0 ? judgedOf(reviewed) : undefined;
  const missed = step === 0 ? missedMove(reviewed) : undefined;
  const words = texts.review;
  const shown =
    ply === 0 ? words.startPosition : `${moveNumber(game.startFen, ply)} ${game.moves[ply - 1]?.san ?? ""}`;
  return (
    <BoardView
      board={
        <>
          <Board
            label={ply === 0 ? words.startPosition : words.board(shown)}
            fen={fen}
            orientation={orientation.value}
            lastMove={move && [move.from, move.to]}
            arrows={missed ? [{ ...missed, rank: 1 }] : []}
          />
          {judged && move && (
            <GlyphOnBoard judged={judged} square={move.to} orientation={orientation.value} />
          )}
        </>
      }
      tools={<Steps plies={game.moves.length} />}
    >
      <PlyPanel game={game} />
      <CourseGraph game={game} />
      <MovesTable game={game} />
      <GameHeader game={game} />
      <ReviewProgress game={game} />
      <FiguresTable />
      <TakeAway />
    </BoardView>
  );
}
