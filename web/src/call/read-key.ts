/** A key as it is pasted, perhaps with the word before it that the header has; undefined where it cannot be one. */
export function readKey(text: string): string | undefined {
  const key = text.trim().replace(/^Bearer\s+/i, "");
  return /^[!-~]{1,512}$/.test(key) ? key : undefined;
}

/** How a key is shown: enough to tell it from others, and nothing of what makes it one. */
export function shownKey(key: string): string {
  return `${/^[a-z]+_/.exec(key)?.[0] ?? ""}••••••••`;
}
