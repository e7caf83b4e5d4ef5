/** The most of a caller's own text that any message repeats. */
const maxQuotedCharacters = 64;

/** A caller's text, fit for a message: cut to 64 characters, with "?" for all that is not printable ASCII. */
export function quote(text: string): string {
  return `'${text.slice(0, maxQuotedCharacters).replace(/[^ -~]/g, "?")}'`;
}
