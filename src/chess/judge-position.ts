import { inOneGo } from "../time-slicer.ts";
import { judgeOutcome } from "./judge-outcome.ts";
import { judgeSetup } from "./judge-setup.ts";
import { normalFen } from "./normal-fen.ts";
import { playMoves } from "./play-moves.ts";
import type { Judgement, Notice, Position, PositionFault, PositionInput } from "./position.ts";
import { readFen } from "./read-fen.ts";

export { movesAtOnce } from "./play-moves.ts";
export { maxFenCharacters } from "./split-fen.ts";

/** The only way to a `Position`: whoever holds one needs to check nothing again. */
export function judgePosition(input: PositionInput): Judgement {
  return inOneGo(judgePositionInPieces(input));
}

/** {@link judgePosition}, which yields now and again where there are many moves to play. */
export function* judgePositionInPieces(input: PositionInput): Generator<void, Judgement> {
  const reading = readFen(input.fen, input.chess960);
  if (reading.kind === "problems") {
    const refused = refusal("invalid_fen", reading.problems);
    const fen = reading.completed;
    const mended = fen === undefined ? undefined : yield* judgePositionInPieces({ ...input, fen });
    return fen !== undefined && mended?.kind === "position" ? { ...refused, suggestedFen: fen } : refused;
  }

  const judgement = judgeSetup(reading.setup);
  if (judgement.kind === "problems") {
    return refusal("illegal_position", judgement.problems);
  }

  const { chess } = judgement;
  const { chess960 } = reading;
  const root = normalFen(chess, chess960);
  const history = yield* playMoves(chess, input.moves, chess960);
  if (history.kind === "fault") {
    return { kind: "faults", faults: [history.fault] };
  }

  const outcome = judgeOutcome(chess, history.occurrences);
  const clockNotices = outcome.terminal ? [] : noticesOfClock(chess.halfmoves, input.moves.length);
  const position: Position = {
    fen: normalFen(chess, chess960),
    root,
    moves: history.ucis,
    turn: chess.turn,
    chess960,
    halfmoves: chess.halfmoves,
    ...outcome,
    notices: [...reading.notices, ...judgement.notices, ...clockNotices],
    board: chess,
  };
  return { kind: "position", position };
}

function refusal(code: "invalid_fen" | "illegal_position", problems: readonly string[]) {
  const faults = problems.map((message): PositionFault => ({ code, field: "fen", message }));
  return { kind: "faults", faults } as const;
}

/** A finished game needs neither: no engine is asked about it. */
function noticesOfClock(halfmoves: number, moveCount: number): Notice[] {
  const notices: Notice[] = [];
  // Four plies are the fewest that bring a position back.
  if (halfmoves >= 4 && moveCount === 0) {
    const message =
      "Repetitions cannot be seen in a FEN; send the moves since the last capture or pawn move to count them.";
    notices.push({ code: "no_history", message, field: "fen" });
  }
  if (halfmoves >= 100) {
    const message =
      "A draw by the 50-move rule can be claimed; the engine scores lines without capture or pawn move 0.00.";
    notices.push({ code: "fifty_move_horizon", message, field: "fen" });
  }
  return notices;
}
