/**
 * Node must import this module before the server. The signal SIGUSR2 sets the wall clock an hour ahead, and the next SIGUSR2
 * sets the clock back. Timers are not affected.
 */
const now = Date.now;
let aheadMs = 0;

process.on("SIGUSR2", () => {
  aheadMs = aheadMs === 0 ? 3_600_000 : 0;
});
Date.now = () => now() + aheadMs;
