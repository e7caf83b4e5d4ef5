import { expect } from "vitest";
import type { Position, PositionInput, PositionViolation, Validation } from "../../src/chess/position.ts";
import { validatePosition } from "../../src/chess/validate-position.ts";

export const startFen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

type Extras = Partial<Omit<PositionInput, "fen">>;

export function validate(fen: string, extras: Extras = {}): Validation {
  return validatePosition({ fen, moves: [], chess960: false, ...extras });
}

/** Fails if the FEN is invalid. */
export function positionOf(fen: string, extras: Extras = {}): Position {
  const validation = validate(fen, extras);
  if (validation.kind === "violations") {
    expect.fail(validation.violations.map((violation) => violation.message).join(" "));
  }
  return validation.position;
}

/** Fails if the FEN is valid. */
export function violationsOf(fen: string, extras: Extras = {}): readonly PositionViolation[] {
  const validation = validate(fen, extras);
  if (validation.kind === "position") {
    expect.fail(`accepted as ${validation.position.fen}`);
  }
  return validation.violations;
}

export function noticesOf(fen: string, extras: Extras = {}): string[] {
  return positionOf(fen, extras).warnings.map((notice) => notice.code);
}
