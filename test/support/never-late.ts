import type { EventLoopLag } from "../../src/thread/event-loop.ts";

/**
 * For servers in the process of a test: their thread is that of their clients, and of what vitest reads meanwhile, so
 * its lag is no measure of load.
 */
export const neverLate: EventLoopLag = { isLasting: () => false, [Symbol.dispose]() {} };
