/**
 * The longest wait in milliseconds for a result that comes at once on an idle machine. A test continues as soon as the result is
 * there, so only a failing test waits this long.
 */
export const patienceMs = 30_000;
