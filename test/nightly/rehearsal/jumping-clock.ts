/**
 * Read by Node before the server: at SIGUSR2 the wall clock of the process is an hour ahead, and at the next one right again. Timers go
 * on as ever, as where an operator sets the clock of a machine.
 */
const now = Date.now;
let aheadMs = 0;

process.on("SIGUSR2", () => {
  aheadMs = aheadMs === 0 ? 3_600_000 : 0;
});
Date.now = () => now() + aheadMs;
