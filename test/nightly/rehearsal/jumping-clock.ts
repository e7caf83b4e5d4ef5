/**
 * Node imports this before the server. SIGUSR2 sets the wall clock of the process an hour ahead; the next SIGUSR2 sets it right. Timers
 * are not affected, as when an operator sets the clock of a machine.
 */
const now = Date.now;
let aheadMs = 0;

process.on("SIGUSR2", () => {
  aheadMs = aheadMs === 0 ? 3_600_000 : 0;
});
Date.now = () => now() + aheadMs;
