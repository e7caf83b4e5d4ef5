import { readFileSync } from "node:fs";

/**
 * A process and those that it has started, as Linux tells: an engine may be the child of a script around it. Only the
 * process itself where that is not to be learnt.
 */
export function processTreeOf(pid: number): readonly number[] {
  return [pid, ...childrenOf(pid).flatMap(processTreeOf)];
}

/** Of the thread that has the process's own number, which is the one that shells and engines start others from. */
function childrenOf(pid: number): readonly number[] {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1");
    return children.split(" ").filter(Boolean).map(Number);
  } catch {
    return [];
  }
}
