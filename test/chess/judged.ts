import { expect } from "vitest";
import { judgePosition } from "../../src/chess/judge-position.ts";
import type { Judgement, Position, PositionFault, PositionInput } from "../../src/chess/position.ts";

export const startFen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

type Extras = Partial<Omit<PositionInput, "fen">>;

export function judge(fen: string, extras: Extras = {}): Judgement {
  return judgePosition({ fen, moves: [], chess960: false, ...extras });
}

/** The position, where the test is about what becomes of a good one. */
export function positionOf(fen: string, extras: Extras = {}): Position {
  const judgement = judge(fen, extras);
  if (judgement.kind === "faults") {
    expect.fail(judgement.faults.map((fault) => fault.message).join(" "));
  }
  return judgement.position;
}

/** The faults, where the test is about a refusal. */
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
