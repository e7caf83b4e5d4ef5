/** The longest text of an answer, in characters: users pay for what their models read. */
export const textMaxCharacters = 4000;

/** Room for the note that the text is shortened, in characters. */
const reserve = 60;

/**
 * Joins parts of a text by empty lines. A part that does not fit is cut after its last line that fits, so the most important part comes
 * first.
 */
export function textOf(parts: readonly (string | undefined)[], maxCharacters = textMaxCharacters): string {
  let text = "";
  let isCut = false;
  for (const part of parts) {
    if (!part) {
      continue;
    }
    const gap = text === "" ? "" : "\n\n";
    const room = maxCharacters - reserve - text.length - gap.length;
    const fitting = part.length <= room ? part : firstLines(part, room);
    isCut ||= fitting !== part;
    text += fitting === "" ? "" : gap + fitting;
  }
  return isCut ? `${text}\n(shortened)` : text;
}

function firstLines(part: string, room: number): string {
  const end = part.lastIndexOf("\n", room);
  return end > 0 && room > 0 ? part.slice(0, end) : "";
}

/** A line of moves in SAN with their numbers: "12. Nf3 Nc6 13. d4", "12... Nc6 13. d4". */
export function numbered(fen: string, sans: readonly string[]): string {
  const fields = fen.split(" ");
  const blackFirst = fields[1] === "b" ? 1 : 0;
  const first = Number(fields[5] ?? 1);
  return sans
    .map((san, index) => {
      const ply = index + blackFirst;
      const number = first + Math.floor(ply / 2);
      if (ply % 2 === 0) {
        return `${number}. ${san}`;
      }
      return index === 0 ? `${number}... ${san}` : san;
    })
    .join(" ");
}
