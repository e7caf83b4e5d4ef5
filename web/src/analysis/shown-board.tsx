import { chessgroundDests, chessgroundMove } from "chessops/compat";
import { isNormal, type Role, type SquareName } from "chessops/types";
import { makeUci, parseSquare, parseUci } from "chessops/util";
import { useMemo } from "preact/hooks";
import type { Line } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import { played } from "../address.ts";
import { type Arrow, Board } from "../board/board.tsx";
import { positionInWords } from "../board/words.ts";
import { texts } from "../texts.ts";
import { outcomeInWords } from "./outcome.ts";
import { shown } from "./preview.ts";
import { playMoves } from "./state.ts";

/** The board of the analysis: legal moves can be made on it, the best ones are drawn. */
export function ShownBoard({ lines }: { readonly lines: readonly Line[] }) {
  const { position, last, isPreview } = shown.value;
  const { board, chess960, fen, turn } = position;
  const targets = useMemo(() => chessgroundDests(board, { chess960 }), [fen]);
  return (
    <div class={isPreview ? "shown-board shown-board-preview" : "shown-board"}>
      <Board
        label={texts.board.name}
        fen={fen}
        orientation={played.value.orientation}
        lastMove={last && squaresOf(last.uci)}
        check={board.isCheck() ? turn : undefined}
        arrows={isPreview ? [] : lines.flatMap(arrowOf)}
        use={isPreview ? { kind: "look" } : { kind: "play", turn, targets, chess960, onMove }}
      />
      <PositionInWords />
    </div>
  );
}

function onMove(from: SquareName, to: SquareName, promotion: Role | undefined): void {
  const move = { from: parseSquare(from), to: parseSquare(to) };
  playMoves([makeUci(promotion ? { ...move, promotion } : move)]);
}

/** The whole position, for those who do not see it. */
function PositionInWords() {
  const { position } = shown.value;
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
