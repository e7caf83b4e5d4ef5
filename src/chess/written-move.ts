/** A move as people write it. The text is split without a board, so the move may be illegal. */
interface WrittenMove {
  /** The move in SAN or UCI. If the first letter is `b`, the move may be a move of a pawn or of a bishop. */
  readonly spelling: string;
  /** True if the text had piece letters in lower case, squares in upper case, or castling without a dash. */
  readonly isCorrected: boolean;
  readonly length: number;
}

const castling = "[Oo0]-[Oo0](?:-[Oo0])?|[Oo0]{2,3}(?![Oo0-])";
/** Matches a promotion with or without `=`. The text `a1b2` is not a promotion, but a move in UCI. */
const promotion = "(?:[a-h][1-8]?[-x:]?)?[a-h][18](?:[=/]?[NBRQnbrq]|\\([NBRQnbrq]\\))(?!(?!1[-/:])[a-z1-8])";
const otherMove = "[KQRBNkqrbn]?[a-h]?[1-8]?[-x:]?[a-h][1-8]";
/** A `+` before `-`, `/` or `=` is not a check sign. Such a `+` belongs to a glyph such as `+-`. */
const checks = "(?:[+#]+(?![-/=]))?";
const move = new RegExp(`^(?:(${castling})|(${promotion}|${otherMove}))(${checks})(?:e\\.?p\\.?)?`);
/** Matches squares in upper case. A pawn's capture needs an `x`: in German, `DE5` may be a queen's move. */
const inCapitals = /^(?![AC-H][A-H])[KQRBNkqrn]?[A-H1-8Xx:-]*[A-H][1-8]/;

/** Matches the sign in a move that names both squares, such as `g1-f3`. */
const betweenSquares = /(?<=^[a-h][1-8])[-x:](?=[a-h][1-8]$)/;

/** `text` is the result of {@link plainForm}. */
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
  const plain = written.replace(betweenSquares, "");
  const spelling = `${isUci(plain) ? plain.toLowerCase() : sanOf(written, isCapital)}${check}`;
  const isCorrected = (isCapital || /^[kqrnx:-]/.test(written)) && !spelling.startsWith("b");
  return { spelling, isCorrected, length };
}

export function isPlainMove(text: string): boolean {
  return readWrittenMove(text)?.spelling === text && readingsOfSpelling(text).length === 1;
}

/** Returns two readings of `bc4`: a move of a pawn and a move of a bishop. Returns only one reading of `b1c3`, which is UCI. */
export function readingsOfSpelling(spelling: string): readonly string[] {
  return spelling.startsWith("b") && !isUci(spelling) ? [spelling, `B${spelling.slice(1)}`] : [spelling];
}

function isUci(text: string): boolean {
  return /^(?:[a-h][1-8]){2}[nbrqNBRQ]?$/.test(text);
}

function sanOf(written: string, isCapital: boolean): string {
  // Without its x, `BXC4` may be a move of a pawn or of a bishop.
  return (isCapital ? written.replace(/^bx/, "b") : written)
    .replace(/^[x:-]/, "")
    .replace(":", "x")
    .replace(/[=/(]?([nbrq])\)?$/i, (_, piece) => `=${piece.toUpperCase()}`)
    .replace(/^[kqrn]/, (piece) => piece.toUpperCase());
}

const figurines = "♔♕♖♗♘♚♛♜♝♞";

/** Matches the Cyrillic letter that looks like the O of castling. */
const cyrillicO = /[Оо](?=-[OОoо0])|(?<=[OОoо0]-)[Оо]|(?<![\p{L}\p{N}])[Оо]{2,3}(?![\p{L}\p{N}])/gu;

/**
 * Replaces figurines such as `♘` by letters, special dashes, colons and multiplication signs by `-`, `:` and `x`, and the
 * Cyrillic letters in a castling move by `O`.
 */
export function plainForm(text: string): string {
  if (!/[^!-~]/.test(text)) {
    return text;
  }
  return plainDashes(text)
    .replaceAll(/[\ufe0e\ufe0f♙♟]/g, "")
    .replaceAll(/[♔-♞]/g, (piece) => "KQRBN".charAt(figurines.indexOf(piece) % 5))
    .replaceAll(/[×✕](?=[a-h])/g, "x")
    .replaceAll("∶", ":")
    .replaceAll(cyrillicO, (letters) => "O".repeat(letters.length));
}

export function plainDashes(text: string): string {
  return text.replaceAll(/[‐-―−]/g, "-");
}
