/** Removes a leading `fen` and quotes, and replaces underscores with spaces. */
export function plainFen(text: string): string {
  const plain = text
    .trim()
    .replace(/^(?:position[ \t]+)?fen[ \t]*[:=]?[ \t]*(?=\S)/i, "")
    .replace(/^["'`“”„‘’«»]+|["'`“”‘’«»,]+$/g, "")
    .trim();
  return /\s/.test(plain) ? plain : plain.replaceAll("_", " ").trim();
}
