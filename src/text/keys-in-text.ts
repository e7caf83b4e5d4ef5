/** Also matches an API key that is incomplete or contains a typing error. */
const keys = /kbz_[0-9A-Za-z]{12,}/g;

/** Removes API keys, because clients may put an API key into any field or header. */
export function withoutKeys(text: string): string {
  return text.includes("kbz_") ? text.replace(keys, "kbz_…") : text;
}

export function holdsKey(text: string): boolean {
  return withoutKeys(text) !== text;
}
