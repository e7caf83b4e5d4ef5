import type { EventLoopLag } from "../../src/thread/event-loop.ts";

/**
 * An event loop that never counts as overloaded, for servers in a test's own process: the server shares its thread with its
 * clients and with vitest, so its lag does not measure load.
 */
export const neverLate: EventLoopLag = { isLasting: () => false, [Symbol.dispose]() {} };
