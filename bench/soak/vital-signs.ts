import { readdirSync, readFileSync } from "node:fs";

/** What a process takes of its machine, as Linux tells. */
export interface VitalSigns {
  /** Resident memory of the server alone, in MiB. */
  readonly rssMib: number;
  /** Resident memory of its engines, in MiB. */
  readonly enginesMib: number;
  /** Open file descriptors of the server. */
  readonly descriptors: number;
  /** Engines, and whatever else it has started. */
  readonly processes: number;
}

export function vitalSignsOf(pid: number): VitalSigns {
  const children = childrenOf(pid);
  return {
    rssMib: rssMib(pid),
    enginesMib: children.reduce((sum, child) => sum + rssMib(child), 0),
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    processes: children.length,
  };
}

function childrenOf(pid: number): readonly number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1")
    .trim()
    .split(" ")
    .filter(Boolean)
    .map(Number);
}

function rssMib(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "latin1");
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
  } catch {
    // An engine that was retired meanwhile.
    return 0;
  }
}
