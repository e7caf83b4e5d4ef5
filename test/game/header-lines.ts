export const pawnEnding = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1";

/** Lines between two tags, with the part that the error names. Undefined if the game is read. */
export const headerLines: readonly (readonly [line: string, named: string | undefined])[] = [
  ["[WhiteElo 2000]", "[WhiteElo"],
  ["[WhiteElo ]", "[WhiteElo"],
  ["[White]", "[White]"],
  ['[White x"]', "[White"],
  ['[White Elo "2000"]', "[White"],
  ['[Weiß "x"]', "[Weiß"],
  ['[Белые "x"]', "[Белые"],
  ['[White.Elo "1"]', "[White.Elo"],
  ['[White/Elo "1"]', "[White/Elo"],
  ["[Annotator e4 e5]", "[Annotator"],
  ['[White "e4"] [X e4]', "[X"],
  ['WhiteElo "2000"]', "WhiteElo"],
  ['[White "A"],', undefined],
  ['[White "A"].', undefined],
  ['[White "A"]]', "]"],
  ['[White "A"]trailing', "trailing"],
  ['[White "A\nb"]', "[White"],
  ["notes on e4 and d4", "notes"],
  ["( e4 )", "("],
  ["---", "---"],
  ["--", "--"],
  ["*", "*"],
  ["1-0", "1-0"],
  ['[White "A"] *', "*"],
  ["\u200b", undefined],
  ['[White "A"]\u200b', undefined],
  ['\u200b[White "A"]', undefined],
  ['\u2060[White "A"]\u200d', undefined],
  ['\u00a0[White "A"]', undefined],
  ['\f[White "A"]', undefined],
  ['\u001a[White "A"]', undefined],
];

/** Returns a game with the line between two tags, and with a FEN above the line. */
export const gameWithLine = (line: string) =>
  `[Event "x"]\n[FEN "${pawnEnding}"]\n${line}\n[Black "B"]\n\n1. e4 *\n\n`;
