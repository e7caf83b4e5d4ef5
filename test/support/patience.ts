/**
 * For how long something is waited for that comes at once on an idle machine, in milliseconds. Who waits for it goes on as soon as it
 * is so: only a failure takes this long.
 */
export const patienceMs = 30_000;
