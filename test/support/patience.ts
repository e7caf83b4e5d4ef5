/**
 * The longest wait for a result that takes almost no time on an idle machine, in milliseconds. Only a failing test waits this
 * long.
 */
export const patienceMs = 30_000;
