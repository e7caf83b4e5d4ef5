/** A header needs this number of bytes of heap more than its text. */
export const headerOverhead = 32;

/** Returns the size of headers in memory. */
export function headerBytes(rawHeaders: readonly string[]): number {
  const text = rawHeaders.reduce((length, part) => length + part.length, 0);
  return text + (rawHeaders.length / 2) * headerOverhead;
}
