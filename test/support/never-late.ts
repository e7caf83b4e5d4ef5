import type { EventLoopLag } from "../../src/thread/overload.ts";

/**
 * An overload detector that never reports overload. For servers in the test's process, where clients and vitest use the same
 * event loop.
 */
export const neverLate: EventLoopLag = { isLasting: () => false, [Symbol.dispose]() {} };
