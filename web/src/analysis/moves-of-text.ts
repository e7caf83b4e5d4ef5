import { readWord } from "../../../src/game/read-word.ts";

const german: Readonly<Record<string, string>> = { S: "N", D: "Q", T: "R", L: "B" };

/** Reads moves without their numbers and glyphs. Accepts figurines, lower-case letters and German piece letters. */
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
