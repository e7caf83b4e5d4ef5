/**
 * Returns the processor time of this thread so far, in milliseconds. A test that measures the cost of work reads this time,
 * because other work on the machine does not count in it.
 */
export function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
