/**
 * For how long this thread has worked so far, in milliseconds. What else the machine does is not its work, and a test that asks how
 * dear something is must not fail for it.
 */
export function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
