import { expect } from "vitest";
import { judgePosition } from "../../src/chess/judge-position.ts";
import type { Judgement, Position, PositionFault, PositionInput } from "../../src/chess/position.ts";

export const startFen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

type Extras = Partial<Omit<PositionInput, "fen">>;

export function judge(fen: string, extras: Extras = {}): Judgement {
  return judgePosition({ fen, moves: [], chess960: false, ...extras });
}

/** The position of a FEN that must be valid. */
export function positionOf(fen: string, extras: Extras = {}): Position {
  const judgement = judge(fen, extras);
  if (judgement.kind === "faults") {
    expect.fail(judgement.faults.map((fault) => fault.message).join(" "));
  }
  return judgement.position;
}

/** The faults of a FEN that must be refused. */
export function faultsOf(fen: string, extras: Extras = {}): readonly PositionFault[] {
  const judgement = judge(fen, extras);
  if (judgement.kind === "position") {
    expect.fail(`accepted as ${judgement.position.fen}`);
  }
  return judgement.faults;
}

export function noticesOf(fen: string, extras: Extras = {}): string[] {
  return positionOf(fen, extras).warnings.map((notice) => notice.code);
}
