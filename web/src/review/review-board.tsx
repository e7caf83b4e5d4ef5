import { chessgroundDests } from "chessops/compat";
import type { SquareName } from "chessops/types";
import { makeUci, parseSquare } from "chessops/util";
import { useMemo } from "preact/hooks";
import { Board } from "../board/board.tsx";
import { stepByWheel } from "../moves/step-by-wheel.ts";
import { usePage } from "../page.ts";
import { GlyphOnBoard } from "./glyph-on-board.tsx";
import { judgedOf } from "./judged.ts";
import { numberedMove } from "./numbered-move.ts";

/** The board of the review. It shows the judgement of a move and the better one; legal moves can be tried on it. */
export function ReviewBoard() {
  const { game, review } = usePage();
  const node = game.at.value;
  const { position, move } = node;
  const { board, chess960, fen, turn } = position;
  const reviewed = review.reviewOf(node);
  const judged = judgedOf(reviewed);
  const best = reviewed?.best?.move?.uci === move?.uci ? undefined : reviewed?.best?.move;
  const targets = useMemo(() => chessgroundDests(board, { chess960 }), [fen]);
  const onWheel = useMemo(() => stepByWheel(game), [game]);
  const [from, to] = [move?.from, move?.to] as [SquareName | undefined, SquareName | undefined];
  return (
    <div onWheel={onWheel}>
      <Board
        label={move ? `Position after ${numberedMove(node)}` : "Start of the game"}
        fen={fen}
        orientation={game.orientation.value}
        lastMove={from && to && [from, to]}
        check={board.isCheck() ? turn : undefined}
        arrows={best ? [{ from: best.from as SquareName, to: best.to as SquareName, rank: 1 }] : []}
        use={{
          kind: "play",
          turn,
          targets,
          chess960,
          onMove: (start, end, promotion) => {
            const played = { from: parseSquare(start), to: parseSquare(end) };
            game.play([makeUci(promotion ? { ...played, promotion } : played)]);
          },
        }}
      />
      {judged && to && <GlyphOnBoard judged={judged} square={to} orientation={game.orientation.value} />}
    </div>
  );
}
