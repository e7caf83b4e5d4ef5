import type { Position, Validation } from "../../../src/chess/position.ts";
import { validatePosition } from "../../../src/chess/validate-position.ts";
import { type Case, castlingOf, isChess960, policy, type Row } from "./policy.ts";
import type { Question, Referee, Verdict } from "./referee.ts";

/** The comparison of one question's two answers. */
export interface Comparison {
  readonly question: Question;
  readonly accepted: boolean;
  /** Ids of the rows of the policy that decided. */
  readonly rows: readonly string[];
  /** A difference that no row of the policy explains. */
  readonly difference: string | undefined;
}

/** Asks the judge and the referee, and holds what they say against the policy. */
export async function compareAll(
  questions: readonly Question[],
  referee: Pick<Referee, "judge">,
): Promise<readonly Comparison[]> {
  const unvalidated = questions.map(([fen, chess960]) => caseOf(fen, chess960));
  const asked = referee.judge(unvalidated.map((one) => [one.fen, isChess960(one)]));
  // In the time that the referee takes.
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

/** The validation; or in words what it may never do: throw, or write a FEN that it reads as another one. */
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

/** The rows whose condition is met. Those that allow bits are met by the status. */
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
  const told = (difference: string | undefined): Comparison => {
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
    return told(
      code === expectedCode ? undefined : `refused as ${code} and not ${expectedCode ?? "accepted"}: ${why}`,
    );
  }
  if (expectedCode !== undefined || !verdict?.playable) {
    return told(`accepted as ${validation.position.fen}, and not refused as ${expectedCode}`);
  }
  return told(differenceOfPositions(asked, validation.position, verdict.playable));
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
  const mended = [
    castlingOf(asked).length > castling.replace("-", "").length ? "castling_rights_removed" : "",
    asked.fields[3] !== ep ? "ep_square_removed" : "",
    asked.fields.length < 6 || Number(asked.fields[5]) === 0 ? "clocks_defaulted" : "",
  ].filter((code) => code !== "");
  const told = position.warnings
    .map((notice) => notice.code)
    .filter((code) => !["no_history", "fifty_move_horizon"].includes(code));
  if (told.toSorted().join() !== mended.toSorted().join()) {
    return `says ${told.join() || "nothing"} and not ${mended.join() || "nothing"}`;
  }
  return undefined;
}
