import { constants, getPriority, setPriority } from "node:os";

/**
 * Lets the thread that calls this run before others of the machine, until disposed of, where it may. Who measures what another
 * process did while an answer was on its way measures that process only if the answer is read when it comes, and not when a neighbour
 * leaves a core. Threads that it starts meanwhile run before others as well.
 */
export function aheadOfOthers(): Disposable {
  const before = getPriority();
  // Linux: 0 is this thread alone, although Node speaks of the process.
  return setIfAllowed(constants.priority.PRIORITY_HIGH)
    ? { [Symbol.dispose]: () => void setIfAllowed(before) }
    : { [Symbol.dispose]: () => {} };
}

/** Only root may, or who has CAP_SYS_NICE: the others measure with what a neighbour adds. */
function setIfAllowed(priority: number): boolean {
  try {
    setPriority(priority);
    return true;
  } catch {
    return false;
  }
}
