import type { EventLoopLag } from "../../src/thread/event-loop.ts";

/**
 * An overload detector that never reports overload. For servers in the test's process, whose event loop is also used by clients
 * and vitest.
 */
export const neverLate: EventLoopLag = { isLasting: () => false, [Symbol.dispose]() {} };
