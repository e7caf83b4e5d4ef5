/** Returns the processor time of this thread in milliseconds. Other work on the machine does not change this time. */
export function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
