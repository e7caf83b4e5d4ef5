import { costOfBytes, KibitzError, withCost } from "../errors/errors.ts";

/**
 * How long one item of a list may be, and what stands beside the list: five times the longest request, and read in a
 * millisecond.
 */
const partMaxBytes = 32 * 1024;

/** @throws KibitzError where one part of a list of requests takes long to read */
export function refuseLongParts(
  name: string,
  frame: { readonly length: number },
  items: readonly { readonly length: number }[],
): void {
  const index = items.findIndex(({ length }) => length > partMaxBytes);
  if (index !== -1 || frame.length > partMaxBytes) {
    const where = index === -1 ? `What stands beside \`${name}\`` : `\`${name}[${index}]\``;
    const detail = `${where} is larger than ${partMaxBytes} bytes, the maximum for one request of a batch.`;
    const bytes = items.reduce((sum, { length }) => sum + length, frame.length);
    throw withCost(new KibitzError("body_too_large", detail), costOfBytes(bytes));
  }
}
