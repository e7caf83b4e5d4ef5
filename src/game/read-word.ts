import { plainForm, readWrittenMove } from "../chess/written-move.ts";

/** A token in a word of a PGN. `at` is the offset of the token in the word. */
export type WordToken = { readonly at: number } & (
  | { readonly kind: "number"; readonly number: MoveNumber }
  /** `san` contains SAN or UCI, or `--` for a null move. */
  | { readonly kind: "move"; readonly san: string; readonly isCorrected: boolean }
  | { readonly kind: "nag"; readonly nag: number }
  | { readonly kind: "sign"; readonly sign: string }
  | { readonly kind: "result"; readonly result: Result }
);

export interface MoveNumber {
  /** Undefined if the text has only dots and no number. */
  readonly value: number | undefined;
  /** Two or more dots announce a move of Black. */
  readonly dots: number;
}

export type Result = "1-0" | "0-1" | "1/2-1/2" | "*";

/** The maximum length of a word in characters. An example of a long word is `123...Qa1xb2=Q++e.p.!?$146`. */
const wordMaxCharacters = 40;

/** The glyphs of each NAG. Kibitz writes the first glyph. If White and Black have separate NAGs, only White's NAG is listed. */
const glyphsOfNag: Readonly<Record<number, string>> = {
  1: "!",
  2: "?",
  3: "!! ‼",
  4: "?? ⁇",
  5: "!? ⁉",
  6: "?! ⁈",
  7: "□",
  10: "=",
  13: "∞",
  14: "+= +/= ⩲",
  15: "=+ =/+ ⩱",
  16: "± +/-",
  17: "∓ -/+",
  18: "+-",
  19: "-+",
  20: "+--",
  21: "--+",
  22: "⨀ ⊙",
  26: "○",
  32: "⟳ ↑↑",
  36: "↑",
  40: "→",
  44: "=∞ ∞= =/∞ ∞/= ⯹",
  132: "⇆ ⇄",
  138: "⊕ ⨁",
  140: "∆ △ Δ",
  141: "∇",
  142: "⌓",
  143: "≤ <=",
  144: "==",
  145: "RR",
  146: "N",
  147: "× ✕",
  148: "⊥ ⟂",
  149: "⟺ ⇔",
  150: "⇗ ↗",
  220: "D",
  241: "⊞",
  242: "⟫",
  243: "⟪",
};

const nagOfGlyph = new Map(
  Object.entries(glyphsOfNag).flatMap(([nag, glyphs]) =>
    glyphs.split(" ").map((glyph) => [glyph, Number(nag)] as const),
  ),
);

/** Returns the glyphs of the NAGs. NAGs without a glyph are skipped. */
export function glyphsOfNags(nags: readonly number[]): string {
  return nags.map((nag) => glyphsOfNag[nag]?.split(" ")[0] ?? "").join("");
}

/** Long glyphs come first, because `!!` also begins with `!`. No letter or digit can follow a glyph that is a letter. */
const glyph = new RegExp(
  `^(?:${[...nagOfGlyph.keys()]
    .toSorted((one, other) => other.length - one.length)
    .map((written) => written.replaceAll(/[+?/]/g, "\\$&").replace(/[A-Z]$/, "$&(?![a-zA-Z0-9])"))
    .join("|")})`,
);
const numericNag = /^\$(\d{1,4})(?!\d)/;
const sign = /^[^\p{L}\p{N}\p{C}\p{Z}$[\]"*%:\\@.-]+/u;
/** Matches a move number. Does not match `00` and `000`, which mean castling. */
const number = /^(?!0{2,3}$)(?:\d{1,5}(?=[.…]|$)[.…]*|[.…]+)/;
/** Matches most words of a PGN. For these words, the slower patterns are not needed. */
const plainMove = /^(?!x)[NBRQK]?[a-h]?[1-8]?x?[a-h][1-8][+#]?$/;
const nullMove = /^(?:--|Z0|0000|@@@@)(?=$|[!?$])/;
const enPassant = /^e\.?p\.?$/i;

/** Reads the tokens of a word such as `12.Nf3!?$14`. Returns undefined if a part of the word is not a token of PGN. */
export function readWord(word: string): readonly WordToken[] | undefined {
  if (word.length > wordMaxCharacters) {
    return undefined;
  }
  if (plainMove.test(word)) {
    return [{ kind: "move", at: 0, san: word, isCorrected: false }];
  }
  const plain = plainForm(word);
  const result = resultOf(plain);
  if (result !== undefined) {
    return [{ kind: "result", at: 0, result }];
  }
  const tokens: WordToken[] = [];
  let at = 0;
  const take = (pattern: RegExp) => {
    const match = pattern.exec(plain.slice(at));
    at += match?.[0].length ?? 0;
    return match;
  };

  const [numbered] = (nullMove.test(plain) ? undefined : take(number)) ?? [];
  if (numbered !== undefined) {
    tokens.push({ kind: "number", at: 0, number: readNumber(numbered) });
  }
  const moveAt = at;
  if (take(nullMove)) {
    tokens.push({ kind: "move", at: moveAt, san: "--", isCorrected: false });
  } else if (!take(enPassant)) {
    const { spelling: san, isCorrected = false, length = 0 } = readWrittenMove(plain.slice(at)) ?? {};
    at += length;
    tokens.push(...(san === undefined ? [] : [{ kind: "move", at: moveAt, san, isCorrected } as const]));
  }
  while (at < plain.length) {
    const begins = at;
    const numeric = take(numericNag)?.[1];
    const nag = numeric === undefined ? nagOfGlyph.get(take(glyph)?.[0] ?? "") : Number(numeric);
    if (nag !== undefined) {
      tokens.push({ kind: "nag", at: begins, nag });
      continue;
    }
    const result = resultOf(plain.slice(at));
    if (result !== undefined) {
      return [...tokens, { kind: "result", at, result }];
    }
    const unknown = take(sign);
    if (unknown === null) {
      return undefined;
    }
    tokens.push({ kind: "sign", at: begins, sign: unknown[0] });
  }
  return tokens;
}

function readNumber(text: string): MoveNumber {
  const dots = text.replaceAll(/\d/g, "").replaceAll("…", "...").length;
  return { value: /^\d/.test(text) ? Number.parseInt(text, 10) : undefined, dots };
}

const half = "(?:1/2|½|0?[.,]5)";
const results: readonly (readonly [RegExp, Result])[] = [
  [/^(?:1(?:[.,]0)?[-:][0O](?:[.,]0)?|\+:-)$/, "1-0"],
  [/^(?:[0O](?:[.,]0)?[-:]1(?:[.,]0)?|-:\+)$/, "0-1"],
  [new RegExp(`^(?:1/2|½|${half}[-:]${half})$`), "1/2-1/2"],
  [/^(?:\*|0:0|-:-|0[-:](?:½|1\/2)|(?:½|1\/2)[-:]0)$/, "*"],
];

/** Reads a result such as `0,5:0,5`. Returns undefined for `0-0`, because this word can mean castling. */
export function resultOf(word: string): Result | undefined {
  const plain = plainForm(word.replaceAll(/\s/g, "")).replace(/(?<=.)[.,]$/, "");
  return results.find(([spelling]) => spelling.test(plain))?.[1];
}

/** Returns the reason why a word is rejected. An error message writes this text after the word. */
export function whyNoWord(word: string): string {
  if (word.startsWith("[%")) {
    return "is a command outside of a comment; commands stand in braces";
  }
  if (word.startsWith("[")) {
    return 'is not a tag pair; a tag pair is written [Name "value"], on its own line';
  }
  if (word.startsWith("$")) {
    return "is not a glyph; glyphs are $0 to $9999";
  }
  const letter = otherLetterIn(word);
  return letter === undefined
    ? "is neither a move, nor a move number, a glyph or a result; comments go in braces"
    : `begins with '${letter}', which is not a piece in PGN: the pieces are K, Q, R, B and N (in German K, D, T, L, S), and a pawn has no letter`;
}

/** Returns the first letter of a word such as `Sf3`, which looks like a move but begins with no piece letter of PGN. */
export function otherLetterIn(word: string): string | undefined {
  return /^(?:\d+[.…]+)?((?![a-hKQRBN])\p{L}{1,2}?)[a-h]?[1-8]?[-x:]?[a-h][1-8]/u.exec(word)?.[1];
}
