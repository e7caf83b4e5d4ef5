const prefix = "kbz_";

/** Reads a key, with or without the word `Bearer` before it. Returns undefined if the text is not a key. */
export function readKey(text: string): string | undefined {
  const key = text.trim().replace(/^Bearer\s+/i, "");
  return /^kbz_\w{1,508}$/.test(key) ? key : undefined;
}

export function shownKey(key: string): string {
  return `${key.startsWith(prefix) ? prefix : ""}••••••••`;
}
