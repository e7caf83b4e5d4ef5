import { errorFromFaults, type Fault, type KibitzError } from "../errors/errors.ts";
import { echo } from "../text/plain-text.ts";

/** The text of one game in PGN, and where it stands in the file that it was taken from. */
export interface PgnSource {
  readonly text: string;
  /** Of a file of games. */
  readonly file?: {
    /** Which game of the file, from 1. */
    readonly game: number;
    /** Of the game's first character, in UTF-16 units. */
    readonly offset: number;
    /** Of the game's first character, from 1. */
    readonly line: number;
  };
}

export interface PgnFault {
  readonly code: "invalid_pgn" | "illegal_move" | "invalid_fen" | "illegal_position" | "out_of_range";
  /** A sentence without its end, behind which the place is said. */
  readonly message: string;
  /** What the text has there. */
  readonly token: string;
  /** In `PgnSource.text`. */
  readonly offset: number;
  /** Which move of the main line is at fault or comes next, from 1. */
  readonly ply: number;
  /** A text that would be read. */
  readonly suggestion?: string | undefined;
  /** For an illegal move: the FEN of the position before it. */
  readonly fen?: string;
}

/** What to do where a text has several games, as the rest of a sentence: who reads a file of many has other ways. */
export function howToSendMany({ file }: PgnSource): string {
  return file === undefined
    ? "send one game; for files with several games use `kibitz review`"
    : 'in a file of many each game begins with its tags, as [Event "…"], on a line of their own';
}

/** The error for a game that cannot be read as it was meant; its fault has the place. */
export function pgnError(source: PgnSource, fault: PgnFault): KibitzError {
  const { code, message, token, offset, ply, suggestion, fen } = fault;
  const { game, offset: before = 0, line: firstLine = 1 } = source.file ?? {};
  const lines = source.text.slice(0, offset).split(/\r\n|\r|\n/);
  const line = firstLine + lines.length - 1;
  const column = (lines.at(-1) ?? "").length + 1;
  const where = `${game === undefined ? "" : `game ${game}, `}ply ${ply}, line ${line}, column ${column}`;
  const place: Fault["place"] = {
    ...(game !== undefined && { game }),
    ply,
    token: echo(token),
    offset: before + offset,
    line,
    column,
    ...(fen !== undefined && { fen }),
  };
  return errorFromFaults([
    {
      pointer: "/pgn",
      code,
      message: `${message} (${where}).`,
      place,
      ...(suggestion !== undefined && { allowed: { examples: [suggestion] } }),
    },
  ]);
}
