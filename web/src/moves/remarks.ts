import type { Drawing } from "../board/drawing.ts";

const command = /\[%[a-z]\w*\s[^\]]*\]/gi;
const drawingCommand = /\[%c[as]l\s[^\]]*\]/gi;

/** Reads the circles of `[%csl]` and the arrows of `[%cal]`. */
export function drawingsOf(comments: readonly string[]): readonly Drawing[] {
  return (comments.join(" ").match(drawingCommand) ?? []).flatMap((text) =>
    [...text.matchAll(/\b([A-Z])([a-h][1-8])([a-h][1-8])?\b/g)].map(([, colour = "", from, to]) => ({
      colour,
      from: from as Drawing["from"],
      to: to as Drawing["to"],
    })),
  );
}

/** Replaces the drawings of a position. */
export function withDrawings(comments: readonly string[], drawings: readonly Drawing[]): readonly string[] {
  const circles = drawings.filter(({ to }) => to === undefined);
  const arrows = drawings.filter(({ to }) => to !== undefined);
  const [first = "", ...others] = comments.map((comment) => comment.replaceAll(drawingCommand, "").trim());
  return joined([written("csl", circles), written("cal", arrows), first], others);
}

function written(name: string, drawings: readonly Drawing[]): string {
  const texts = drawings.map(({ colour, from, to = "" }) => `${colour}${from}${to}`);
  return texts.length === 0 ? "" : `[%${name} ${texts.join(",")}]`;
}

/** Replaces the text of the comments. Commands such as `[%clk 0:03:00]` stay. */
export function withText(comments: readonly string[], text: string): readonly string[] {
  return joined([...(comments.join(" ").match(command) ?? []), textInPgn(text)]);
}

/** Returns the text as it can be read again from a PGN, where a brace would end the comment. */
export function textInPgn(text: string): string {
  return text.replaceAll("{", "(").replaceAll("}", ")").replaceAll(/\s+/g, " ").trim();
}

function joined(parts: readonly string[], others: readonly string[] = []): readonly string[] {
  return [parts.filter((part) => part !== "").join(" "), ...others].filter((comment) => comment !== "");
}

/** The judgement of a move, and the evaluation of a position. A move has at most one glyph of each group. */
export const glyphGroups = [
  [
    [3, "Brilliant move"],
    [1, "Good move"],
    [5, "Interesting move"],
    [6, "Dubious move"],
    [2, "Mistake"],
    [4, "Blunder"],
  ],
  [
    [10, "Equal position"],
    [13, "Unclear position"],
    [14, "White is slightly better"],
    [15, "Black is slightly better"],
    [16, "White is better"],
    [17, "Black is better"],
    [18, "White is winning"],
    [19, "Black is winning"],
  ],
] as const;

/** Sets a glyph, or removes the glyph if the move has it. */
export function withGlyph(nags: readonly number[], nag: number): readonly number[] {
  const group = glyphGroups.find((glyphs) => glyphs.some(([other]) => other === nag));
  const others = nags.filter((other) => !group?.some(([same]) => same === other));
  return nags.includes(nag) ? others : [...others, nag].toSorted((one, other) => one - other);
}
