import type { Position, Validation } from "../../../src/chess/position.ts";
import { validatePosition } from "../../../src/chess/validate-position.ts";
import { type Case, castlingOf, isChess960, policy, type Row } from "./policy.ts";
import type { Question, Referee, Verdict } from "./referee.ts";

export interface Comparison {
  readonly question: Question;
  readonly accepted: boolean;
  /** The ids of the policy rows that apply to the FEN. */
  readonly rows: readonly string[];
  /** Describes a difference that no row of the policy allows. */
  readonly difference: string | undefined;
}

/** Compares the validation by Kibitz with the validation by python-chess. Rows of the policy allow known differences. */
export async function compareAll(
  questions: readonly Question[],
  referee: Pick<Referee, "judge">,
): Promise<readonly Comparison[]> {
  const unvalidated = questions.map(([fen, chess960]) => caseOf(fen, chess960));
  const asked = referee.judge(unvalidated.map((one) => [one.fen, isChess960(one)]));
  // Kibitz validates the FENs while the referee runs.
  const validations = questions.map(validateTwice);
  const verdicts = await asked;
  const cases = unvalidated.map((one, index) => ({ ...one, verdict: verdicts[index] }));

  const rewritten = cases.flatMap((one) => {
    const row = rowsOf(one).find((row) => row.kibitz === "reads");
    return row?.kibitz === "reads" ? [{ one, question: [row.rewrite(one), isChess960(one)] as const }] : [];
  });
  const again = rewritten.length > 0 ? await referee.judge(rewritten.map(({ question }) => question)) : [];
  const verdictAgain = new Map(rewritten.map(({ one }, index) => [one, again[index]]));

  return cases.map((one, index) => {
    const validation = validations[index];
    const question = questions[index] ?? ["", false];
    if (validation === undefined || typeof validation === "string") {
      return { question, accepted: false, rows: [], difference: validation ?? "nothing was validated" };
    }
    return compare(question, one, validation, verdictAgain.has(one) ? verdictAgain.get(one) : one.verdict);
  });
}

/**
 * Validates a FEN and also the normalized FEN. Returns a description of the bug if the validation throws, or if the two results
 * differ.
 */
function validateTwice([fen, chess960]: Question): Validation | string {
  try {
    const validation = validatePosition({ fen, moves: [], chess960 });
    if (validation.kind === "position") {
      const { position } = validation;
      const again = validatePosition({ fen: position.fen, moves: [], chess960: position.chess960 });
      if (again.kind === "violations" || again.position.fen !== position.fen) {
        return `what was written, ${position.fen}, is not read as that`;
      }
    }
    return validation;
  } catch (error) {
    return `the judge threw ${error}`;
  }
}

function caseOf(fen: string, chess960: boolean): Case {
  const text = fen.replace(/^[ \t\n\v\f\r]+|[ \t\n\v\f\r]+$/g, "");
  return { fen, text, fields: text.split(/ +/), chess960, verdict: undefined };
}

function rowsOf(asked: Case): readonly Row[] {
  const refusing = policy.filter((row) => row.kibitz === "refuses" && row.when(asked));
  if (refusing.some((row) => row.kibitz === "refuses" && row.code === "invalid_fen")) {
    return refusing;
  }
  return [...refusing, ...policy.filter((row) => row.kibitz === "reads" && row.when(asked))];
}

function compare(
  question: Question,
  asked: Case,
  validation: Validation,
  verdict: Verdict | undefined,
): Comparison {
  const met = rowsOf(asked);
  const byBits = policy.filter((row) => "bits" in row && verdict && (row.bits & verdict.status) !== 0);
  const allowed = byBits.reduce((bits, row) => bits | ("bits" in row ? row.bits : 0), 0);
  const comparisonOf = (difference: string | undefined): Comparison => {
    const rows = validation.kind === "position" ? [...met, ...byBits] : met;
    return {
      question,
      accepted: validation.kind === "position",
      rows: rows.map((row) => row.id),
      difference,
    };
  };

  const codes = met.flatMap((row) => (row.kibitz === "refuses" ? [row.code] : []));
  const illegal =
    verdict === undefined || (verdict.status & ~allowed) !== 0 || verdict.playable === undefined;
  const expectedCode = codes.includes("invalid_fen")
    ? "invalid_fen"
    : verdict === undefined
      ? "invalid_fen"
      : illegal || codes.length > 0
        ? "illegal_position"
        : undefined;

  if (validation.kind === "violations") {
    const code = validation.violations[0]?.code;
    const why = validation.violations.map((violation) => violation.message).join(" ");
    return comparisonOf(
      code === expectedCode ? undefined : `refused as ${code} and not ${expectedCode ?? "accepted"}: ${why}`,
    );
  }
  if (expectedCode !== undefined || !verdict?.playable) {
    return comparisonOf(`accepted as ${validation.position.fen}, and not refused as ${expectedCode}`);
  }
  return comparisonOf(differenceOfPositions(asked, validation.position, verdict.playable));
}

function differenceOfPositions(
  asked: Case,
  position: Position,
  playable: NonNullable<Verdict["playable"]>,
): string | undefined {
  const { fen, legalCount, outcome } = playable;
  if (position.fen !== fen) {
    return `written as ${position.fen} and not ${fen}`;
  }
  if (position.legalMoveCount !== legalCount) {
    return `has ${position.legalMoveCount} legal moves and not ${legalCount}`;
  }
  const reason = outcome ?? (position.board.halfmoves >= 150 ? "seventyfive_moves" : undefined);
  if (position.terminal?.reason !== reason) {
    return `is over by ${position.terminal?.reason} and not ${reason}`;
  }
  const [, , castling = "-", ep] = fen.split(" ");
  const corrections = [
    castlingOf(asked).length > castling.replace("-", "").length ? "castling_rights_removed" : "",
    asked.fields[3] !== ep ? "ep_square_removed" : "",
    asked.fields.length < 6 || Number(asked.fields[5]) === 0 ? "clocks_defaulted" : "",
  ].filter((code) => code !== "");
  const warnings = position.warnings
    .map((notice) => notice.code)
    .filter((code) => !["no_history", "fifty_move_horizon"].includes(code));
  if (warnings.toSorted().join() !== corrections.toSorted().join()) {
    return `says ${warnings.join() || "nothing"} and not ${corrections.join() || "nothing"}`;
  }
  return undefined;
}
