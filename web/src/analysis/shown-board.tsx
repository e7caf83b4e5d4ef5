import { chessgroundDests, chessgroundMove } from "chessops/compat";
import { isNormal, type Role, type SquareName } from "chessops/types";
import { makeUci, parseSquare, parseUci } from "chessops/util";
import { useMemo } from "preact/hooks";
import type { Line } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import { type Arrow, Board } from "../board/board.tsx";
import { positionInWords } from "../board/words.ts";
import { stepByWheel } from "../moves/step-by-wheel.ts";
import { usePage } from "../page.ts";
import { texts } from "../texts.ts";
import { outcomeInWords } from "./outcome.ts";

/** The board of the analysis: legal moves can be made on it, and it shows the best ones. */
export function ShownBoard() {
  const { game, analysis } = usePage();
  const { position, last, isPreview } = analysis.shown.value;
  const { board, chess960, fen, turn } = position;
  const targets = useMemo(() => chessgroundDests(board, { chess960 }), [fen]);
  const onWheel = useMemo(() => stepByWheel(game), [game]);
  const onMove = (from: SquareName, to: SquareName, promotion: Role | undefined) => {
    const move = { from: parseSquare(from), to: parseSquare(to) };
    game.play([makeUci(promotion ? { ...move, promotion } : move)]);
  };
  return (
    <div class={isPreview ? "shown-board shown-board-preview" : "shown-board"} onWheel={onWheel}>
      <Board
        label={texts.board.name}
        fen={fen}
        orientation={game.orientation.value}
        lastMove={last && squaresOf(last.uci)}
        check={board.isCheck() ? turn : undefined}
        arrows={isPreview ? [] : (analysis.latest.value?.lines ?? []).flatMap(arrowOf)}
        use={isPreview ? { kind: "look" } : { kind: "play", turn, targets, chess960, onMove }}
      />
      <PositionInWords />
    </div>
  );
}

/** The whole position, for those who do not see it. */
function PositionInWords() {
  const { position } = usePage().analysis.shown.value;
  const words = texts.analysis;
  const sentences = [
    words.toMove(texts.board.colours[position.turn]),
    position.board.isCheck() && !position.terminal ? words.check : "",
    outcomeInWords(position) ?? "",
    positionInWords(position.fen),
  ];
  return <p class="heard-only">{sentences.filter((sentence) => sentence !== "").join(" ")}</p>;
}

function squaresOf(uci: string): readonly SquareName[] {
  const move = parseUci(uci);
  return move ? chessgroundMove(move) : [];
}

function arrowOf({ moves, rank }: Line): readonly Arrow[] {
  const move = parseUci(moves[0] ?? "");
  const [from, to] = move && isNormal(move) ? chessgroundMove(move) : [];
  return from && to ? [{ from, to, rank }] : [];
}
