import { readWord } from "../../../src/game/read-word.ts";

const german: Readonly<Record<string, string>> = { S: "N", D: "Q", T: "R", L: "B" };

/** The moves of a text that people type, without numbers and glyphs. Figurines, small letters and the pieces of German are read. */
export function movesOfText(text: string): readonly string[] {
  return text
    .split(/\s+/)
    .filter((word) => word !== "")
    .flatMap((word) => {
      const inEnglish = word.replace(/^(\d+\.+)?([SDTL])/, (_, number = "", piece) => number + german[piece]);
      const tokens = readWord(word) ?? readWord(inEnglish);
      return tokens?.flatMap((token) => (token.kind === "move" ? [token.san] : [])) ?? [word];
    });
}
