const prefix = "kbz_";

/** Reads a key as people paste it, perhaps with the word before it that the header has; undefined if it is no key. */
export function readKey(text: string): string | undefined {
  const key = text.trim().replace(/^Bearer\s+/i, "");
  return /^kbz_\w{1,508}$/.test(key) ? key : undefined;
}

/** A key with its secret part hidden. */
export function shownKey(key: string): string {
  return `${key.startsWith(prefix) ? prefix : ""}••••••••`;
}
