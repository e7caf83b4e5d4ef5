/** A FEN without the name, quotes and underscores that other programs write with it. */
export function plainFen(text: string): string {
  const plain = text
    .trim()
    .replace(/^(?:position[ \t]+)?fen[ \t]*[:=]?[ \t]*(?=\S)/i, "")
    .replace(/^["'`“”„‘’«»]+|["'`“”‘’«»,]+$/g, "")
    .trim();
  return /\s/.test(plain) ? plain : plain.replaceAll("_", " ").trim();
}
