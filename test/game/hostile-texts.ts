const size = 262_144;
const upTo = (part: string, characters = size) => part.repeat(Math.floor(characters / part.length));

type NamedText = readonly [name: string, text: string];

/** Invalid PGNs that are expensive to parse. */
export const refusedTexts: readonly NamedText[] = [
  ["opening brackets", upTo("(")],
  ["a million of them", upTo("(", 1_000_000)],
  ["closing brackets", upTo(")")],
  ["square brackets", upTo("[")],
  ["square brackets behind a move", `1. e4 ${upTo("[")}`],
  ["opening braces", upTo("{")],
  ["closing braces", upTo("}")],
  ["nested variations", `1. e4 ${upTo("(1. d4 ")}`],
  ["quotation marks", upTo('"')],
  ["a tag of quotation marks", `[x "${upTo('"')}`],
  ["a tag of backslashes", `[x "${upTo("\\")}`],
  ["tags", upTo('[x "y"]\n', 900_000) + upTo('[z "y"]\n[q "z"]\n[q "y"]\n', 1000)],
  [
    "different tags",
    Array.from({ length: 100_000 }, (_, tag) => `[T${tag} "x"]`)
      .join("\n")
      .slice(0, size),
  ],
  ["a word without an end", upTo("e4")],
  ["dots", upTo(".")],
  ["digits", upTo("1")],
  ["exclamation marks", `e4${upTo("!")}`],
  ["glyphs", `e4 ${upTo("$")}`],
  ["long words in long lines", upTo(`${"a".repeat(61_000)} ${"b ".repeat(1500)}`)],
  ["long words between tags", upTo(`[x "y"]\n${"a".repeat(61_000)} ${"b ".repeat(1500)}\n`)],
  ["letters with a square at the end", `${upTo("é")}e4`],
  ["surrogates", upTo("\ud83d")],
  ["blanks", upTo(" ")],
  ["escaped lines", upTo("%\n")],
  ["line comments", upTo(";\n")],
  ["move numbers", upTo("1. ")],
  ["results", upTo("* ")],
  ["plies", upTo("Nf3 Nf6 Ng1 Ng8 ")],
  ["variations", `1. e4 ${upTo("(d4) ")}`],
  ["a long variation", `1. e4 (${upTo("d4 ")})`],
  ["brackets in brackets", `1. e4 ${upTo(`${"(d4".repeat(99)}${")".repeat(99)} `)}`],
];

/** The valid games within the limits that take the longest to read and to write. */
export const acceptedTexts: readonly NamedText[] = [
  ["a comment", `1. e4 {${upTo("x", size - 20)}}`],
  ["a comment of commands", `1. e4 {${upTo("[%clk [%eval [%csl Ra1,Ra1,", size - 30)}}`],
  ["a comment of one command", `1. e4 {[%csl Ra1${upTo(",Ra1", size - 30)}}`],
  ["comments", `1. e4 ${upTo("{a}")}`],
  ["glyphs", `1. e4 ${upTo("$1 ")}`],
  ["en passants", `1. e4 ${upTo("ep ")}`],
  ["as many variations as there may be", `1. e4 ${"(d4 {a}) ".repeat(4999)}`],
  ["a variation as long as it may be", `1. e4 (${"d4 ".repeat(4999)})`],
  ["brackets in brackets", `1. e4 ${`${"(d4".repeat(99)}${")".repeat(99)} `.repeat(50)}`],
  ["remarks in brackets", `1. e4 ${upTo("({a}) ")}`],
  ["plies, as many as there may be", "Nf3 Nf6 Ng1 Ng8 ".repeat(150).replace("Nf3", "Nf3 {e4}")],
  ["blanks", `1. e4${upTo(" ")}`],
];
