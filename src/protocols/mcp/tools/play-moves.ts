import { AnalysisService } from "../../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import type { PlayedPosition } from "../../../calls/rulebook.ts";
import { playedMovesOf } from "../arguments.ts";
import { answerSchema, argument, listOf, nullable, objectSchema, result } from "../schema.ts";
import { describePosition, halfMovesText, moveText, nameOfSide, notesText, textOf } from "../text.ts";
import type { Tool, ToolAnswer } from "../tool.ts";

const inputSchema = objectSchema(
  { fen: argument.fen, moves: argument.moves, chess960: argument.chess960 },
  [],
);

const outputSchema = answerSchema({
  last_move: nullable(result.move),
  check: { type: "boolean", description: "Whether the side to move is in check." },
  legal_moves: listOf(result.move),
  game_over: result.gameOver,
  draw_claimable: nullable(result.text),
});

export const playMoves: Tool = {
  name: "play_moves",
  title: "Play chess moves",
  description:
    "Play moves by the rules of chess, without an engine: the FEN and board that they lead to, all legal moves there, and whether the game is over. Use it to get a FEN, and to look before you name a move.",
  inputSchema,
  outputSchema,
  async call(args, caller) {
    // The arguments must be valid for a search, although no search follows.
    await caller.check(AnalysisService.method.evaluate, { ...args, fen: args.fen ?? "startpos" });
    return answerOf(await caller.play(playedMovesOf(args)));
  },
};

function answerOf(position: PlayedPosition): ToolAnswer {
  const { fen, played, legal, terminal, drawClaim, warnings } = position;
  return {
    text: textOf([
      stateText(position),
      describePosition(fen),
      `Legal moves (${legal.length}): ${legal.map(moveText).join(", ") || "none"}`,
      notesText(warnings, drawClaim),
    ]),
    structured: {
      ...position,
      last_move: played.at(-1),
      legal_moves: legal,
      game_over: terminal,
      draw_claimable: drawClaim,
    },
  };
}

function stateText({ turn, played, check, terminal }: PlayedPosition): string {
  const last = played.at(-1);
  const game = last
    ? `After ${halfMovesText(played.length)}, the last one ${moveText(last)}: the game`
    : "The game";
  if (terminal) {
    const winner = terminal.winner ? `${nameOfSide(terminal.winner)} has won` : "a draw";
    return `${game} is over, ${winner} by ${terminal.reason.replaceAll("_", " ")} (${terminal.result}).`;
  }
  return `${game} goes on${check ? `, and ${nameOfSide(turn)} is in check` : ""}.`;
}
