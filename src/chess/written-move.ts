/** A move as people write it, without regard to a position. */
interface WrittenMove {
  /** The move in SAN or UCI. A `b` at its beginning is a pawn or a bishop. */
  readonly spelling: string;
  /** True if the text has pieces in lower case, squares in upper case, or castling without a dash. */
  readonly isCorrected: boolean;
  /** The number of characters of the text that were read. */
  readonly length: number;
}

const castling = "[Oo0]-[Oo0](?:-[Oo0])?|[Oo0]{2,3}(?![Oo0-])";
/** A promotion, with or without `=`. A result may follow (`e8Q1-0`), but no letter or digit, because `a1b2` is a move in UCI. */
const promotion = "(?:[a-h][1-8]?[-x:]?)?[a-h][18](?:[=/]?[NBRQnbrq]|\\([NBRQnbrq]\\))(?!(?!1[-/:])[a-z1-8])";
const otherMove = "[KQRBNkqrbn]?[a-h]?[1-8]?[-x:]?[a-h][1-8]";
/** A `+` in front of `-`, `/` or `=` belongs to a glyph. */
const checks = "(?:[+#]+(?![-/=]))?";
const move = new RegExp(`^(?:(${castling})|(${promotion}|${otherMove}))(${checks})(?:e\\.?p\\.?)?`);
/** Matches squares in upper case. A pawn captures with an `x` here, because `DE5` may be a move of the queen in German. */
const inCapitals = /^(?![AC-H][A-H])[KQRBNkqrn]?[A-H1-8Xx:-]*[A-H][1-8]/;

/** Reads the move at the beginning of a text in plain form (see {@link plainForm}). */
export function readWrittenMove(text: string): WrittenMove | undefined {
  const isCapital = inCapitals.test(text);
  const [whole, castled, written = "", signs = ""] = move.exec(isCapital ? text.toLowerCase() : text) ?? [];
  if (whole === undefined) {
    return undefined;
  }
  const { length } = whole;
  const check = signs.slice(0, 1);
  if (castled !== undefined) {
    const san = castled.replaceAll("-", "").length === 2 ? "O-O" : "O-O-O";
    return { spelling: `${san}${check}`, isCorrected: !castled.includes("-"), length };
  }
  const spelling = `${isUci(written) ? written.toLowerCase() : sanOf(written, isCapital)}${check}`;
  const isCorrected = (isCapital || /^[kqrn]/.test(written)) && !spelling.startsWith("b");
  return { spelling, isCorrected, length };
}

/** True for a move that is spelled correctly and cannot be a pawn's as well as a bishop's. */
export function isPlainMove(text: string): boolean {
  return readWrittenMove(text)?.spelling === text && readingsOfSpelling(text).length === 1;
}

/** Returns the ways to read a spelling: `bc4` may be a move of a pawn or of a bishop, but `b1c3` is UCI. */
export function readingsOfSpelling(spelling: string): readonly string[] {
  return spelling.startsWith("b") && !isUci(spelling) ? [spelling, `B${spelling.slice(1)}`] : [spelling];
}

function isUci(text: string): boolean {
  return /^(?:[a-h][1-8]){2}[nbrqNBRQ]?$/.test(text);
}

function sanOf(written: string, isCapital: boolean): string {
  // Without its x, `BXC4` may be a move of a pawn or of a bishop.
  return (isCapital ? written.replace(/^bx/, "b") : written)
    .replace(":", "x")
    .replace(/[=/(]?([nbrq])\)?$/i, (_, piece) => `=${piece.toUpperCase()}`)
    .replace(/^[kqrn]/, (piece) => piece.toUpperCase());
}

const figurines = "♔♕♖♗♘♚♛♜♝♞";

/** Replaces figurines by letters, and all kinds of dashes and colons by those of PGN. */
export function plainForm(text: string): string {
  if (!/[^!-~]/.test(text)) {
    return text;
  }
  return plainDashes(text)
    .replaceAll(/[\ufe0e\ufe0f♙♟]/g, "")
    .replaceAll(/[♔-♞]/g, (piece) => "KQRBN".charAt(figurines.indexOf(piece) % 5))
    .replaceAll(/[×✕](?=[a-h])/g, "x")
    .replaceAll("∶", ":");
}

export function plainDashes(text: string): string {
  return text.replaceAll(/[‐-―−]/g, "-");
}
