import type { Warning } from "../chess/position.ts";
import { errorFromViolations, type KibitzError, type Violation } from "../errors/errors.ts";
import { echo } from "../text/echo.ts";

/** The text of one game in PGN. `file` is the location of the game in a file of games. */
export interface PgnSource {
  readonly text: string;
  readonly file?: {
    /** The first game is number 1. */
    readonly game: number;
    readonly offset: number;
    /** The first line of the file is number 1. */
    readonly line: number;
  };
}

export interface PgnViolation {
  readonly code: "invalid_pgn" | "illegal_move" | "invalid_fen" | "illegal_position" | "out_of_range";
  /** A sentence without a full stop, because the line and the column are added at the end. */
  readonly message: string;
  readonly token: string;
  /** The offset in `PgnSource.text`, in UTF-16 code units. */
  readonly offset: number;
  /** The number of the wrong move in the main line, in plies. The first move is number 1. */
  readonly ply: number;
  readonly suggestion?: string | undefined;
  /** The FEN of the position before an illegal move. */
  readonly fen?: string;
}

/** Returns advice for a client that has several games. An error message ends with this text. */
export function howToSendMany({ file }: PgnSource): string {
  return file === undefined
    ? "send one game; for files with several games use `kibitz review`"
    : 'in a file of several games, each game begins with its tags, such as [Event "…"], on a line of their own';
}

/** Finds the line and the column of an error. The first line and the first column have the number 1. */
function placeOf(source: PgnSource, { offset, ply }: Pick<PgnViolation, "offset" | "ply">) {
  const { text } = source;
  const { game, line: firstLine = 1 } = source.file ?? {};
  let line = firstLine;
  let lineStart = 0;
  // This loop is ten times faster than `split`, and the text may have 100,000 lines.
  for (let at = 0; at < offset; at++) {
    if (text[at] === "\n" || (text[at] === "\r" && text[at + 1] !== "\n")) {
      line++;
      lineStart = at + 1;
    }
  }
  const column = offset - lineStart + 1;
  return {
    line,
    column,
    where: `${game === undefined ? "" : `game ${game}, `}ply ${ply}, line ${line}, column ${column}`,
  };
}

export function pgnCorrected(
  source: PgnSource,
  violation: Pick<PgnViolation, "message" | "offset" | "ply">,
): Warning {
  return {
    code: "pgn_corrected",
    message: `${violation.message} (${placeOf(source, violation).where}).`,
    field: "pgn",
  };
}

export function pgnError(source: PgnSource, violation: PgnViolation): KibitzError {
  const { code, message, token, offset, ply, suggestion, fen } = violation;
  const { game, offset: before = 0 } = source.file ?? {};
  const { line, column, where } = placeOf(source, violation);
  const place: Violation["place"] = {
    ...(game !== undefined && { game }),
    ply,
    token: echo(token),
    offset: before + offset,
    line,
    column,
    ...(fen !== undefined && { fen }),
  };
  return errorFromViolations([
    {
      pointer: "/pgn",
      code,
      message: `${message} (${where}).`,
      place,
      ...(suggestion !== undefined && { allowed: { examples: [suggestion] } }),
    },
  ]);
}
