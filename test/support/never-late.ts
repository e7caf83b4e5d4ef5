import type { EventLoopLag } from "../../src/thread/event-loop.ts";

/**
 * An event loop that never counts as overloaded. For servers in the test's process, whose delays also come from clients and
 * vitest.
 */
export const neverLate: EventLoopLag = { isLasting: () => false, [Symbol.dispose]() {} };
