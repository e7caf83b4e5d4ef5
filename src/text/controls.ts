/** Control characters, line separators, and characters that change the direction of text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for them
const controls = /[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

export function withoutControls(text: string): string {
  return text.replace(controls, escaped);
}

/** Like {@link withoutControls}, but keeps the line breaks. */
export function withoutControlsInLines(text: string): string {
  return text.split("\n").map(withoutControls).join("\n");
}

/** Writes each UTF-16 unit as an escape of JSON. */
export function escaped(character: string): string {
  const units = character.split("").map((unit) => unit.charCodeAt(0).toString(16).padStart(4, "0"));
  return units.map((unit) => `\\u${unit}`).join("");
}
