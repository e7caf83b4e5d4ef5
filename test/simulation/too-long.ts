/**
 * Returns a function that returns true once, when something has been so for the key for more than `maxMs`. Call the function
 * regularly.
 */
export function createTooLong<Key>(now: () => number) {
  const since = new Map<Key, number>();
  const reported = new Set<Key>();
  return (key: Key, isSo: boolean, maxMs: number): boolean => {
    if (!isSo) {
      since.delete(key);
      reported.delete(key);
      return false;
    }
    const began = since.get(key) ?? now();
    since.set(key, began);
    const isTooLong = now() - began > maxMs && !reported.has(key);
    if (isTooLong) {
      reported.add(key);
    }
    return isTooLong;
  };
}
