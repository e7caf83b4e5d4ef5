import { readdirSync, readFileSync } from "node:fs";

export interface VitalSigns {
  /** The resident memory of the process without its children, in MiB. */
  readonly rssMib: number;
  /** The resident memory of all child processes, in MiB. */
  readonly enginesMib: number;
  readonly descriptors: number;
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

/** The processor time in user mode and kernel mode. The resolution is 10 ms. */
interface CpuTimes {
  readonly ownMs: number;
  /** The time of all child processes and their own child processes. Includes processes that have exited. */
  readonly startedMs: number;
}

export function cpuTimesOf(pid: number): CpuTimes {
  const [, , , , , , , , , , , user = 0, system = 0, endedUser = 0, endedSystem = 0] = statOf(pid);
  const running = childrenOf(pid).map((child) => {
    const { ownMs, startedMs } = cpuTimesOf(child);
    return ownMs + startedMs;
  });
  return {
    ownMs: (user + system) * 10,
    startedMs: (endedUser + endedSystem) * 10 + running.reduce((sum, ms) => sum + ms, 0),
  };
}

/** Returns the fields after the process name, or an empty list if the process has exited. */
function statOf(pid: number): readonly number[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .map(Number);
  } catch {
    return [];
  }
}

function childrenOf(pid: number): readonly number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1")
      .trim()
      .split(" ")
      .filter(Boolean)
      .map(Number);
  } catch {
    return [];
  }
}

export function rssMib(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "latin1");
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}
