import { chessgroundMove } from "chessops/compat";
import { isNormal } from "chessops/types";
import { parseUci } from "chessops/util";
import type { Line } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import type { Arrow } from "../board/board.tsx";
import { colourName, positionInWords } from "../board/words.ts";
import { GameBoard } from "../moves/game-board.tsx";
import { usePage } from "../page.ts";
import { outcomeInWords } from "./outcome.ts";

export function ShownBoard() {
  const { analysis, display } = usePage();
  const { shown, latest } = analysis;
  const arrows =
    shown.value.isPreview || !display.arrows.isOn.value ? [] : (latest.value?.lines ?? []).flatMap(arrowOf);
  return (
    <>
      <GameBoard label="Board" {...shown.value} arrows={arrows} />
      <PositionInWords />
    </>
  );
}

function PositionInWords() {
  const { position } = usePage().analysis.shown.value;
  const sentences = [
    `${colourName(position.turn)} to move.`,
    position.board.isCheck() && !position.terminal ? "Check." : "",
    outcomeInWords(position) ?? "",
    positionInWords(position.fen),
  ];
  return <p class="heard-only">{sentences.filter((sentence) => sentence !== "").join(" ")}</p>;
}

function arrowOf({ moves, rank }: Line): readonly Arrow[] {
  const move = parseUci(moves[0] ?? "");
  const [from, to] = move && isNormal(move) ? chessgroundMove(move) : [];
  return from && to ? [{ from, to, rank }] : [];
}
