import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";

interface Process {
  readonly pid: number;
  readonly parent: number;
  /** `Z` is a zombie: the process has ended, but its parent has not read the exit status yet. */
  readonly state: string;
}

function processes(): readonly Process[] {
  const rows = existsSync("/proc/self/stat")
    ? readdirSync("/proc").filter(isNumber).flatMap(readStat)
    : execFileSync("ps", ["-A", "-o", "pid=,stat=,ppid="], { encoding: "utf8" }).split("\n");
  return rows
    .map((row) => row.trim().split(/\s+/))
    .map(([pid, state = "", parent]) => ({
      pid: Number(pid),
      state: state.charAt(0),
      parent: Number(parent),
    }));
}

const isNumber = (name: string) => /^\d+$/.test(name);

/** Parses `pid (name) state parent …`. The name may contain spaces and parentheses. */
function readStat(pid: string): string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return [`${pid} ${stat.slice(stat.lastIndexOf(")") + 2)}`];
  } catch {
    // The process has ended since the folder was read.
    return [];
  }
}

/** Returns the running children of a process, their children, and so on. */
export function descendantsOf(pid: number): readonly number[] {
  const running = processes().filter(({ state }) => state !== "Z");
  const below = (parent: number): number[] =>
    running.filter((one) => one.parent === parent).flatMap((one) => [one.pid, ...below(one.pid)]);
  return below(pid);
}

/** Returns the process ids of the engines that belong to this process. */
export function enginesRunning(): readonly number[] {
  return descendantsOf(process.pid);
}

/** Milliseconds of processor time. The operating system counts in steps of 10 ms. */
export function processorMsOf(pid: number): number {
  if (existsSync("/proc/self/stat")) {
    const fields = readStat(String(pid)).join("").split(" ");
    return (Number(fields[12]) + Number(fields[13])) * 10;
  }
  const time = execFileSync("ps", ["-o", "time=", "-p", String(pid)], { encoding: "utf8" });
  // The format is minutes and seconds, with hours if there are any: 0:01.25.
  return (
    time
      .trim()
      .split(":")
      .reduce((sum, part) => sum * 60 + Number(part), 0) * 1000
  );
}

export function stillRunning(pids: readonly number[]): readonly number[] {
  return processes()
    .filter(({ pid, state }) => pids.includes(pid) && state !== "Z")
    .map(({ pid }) => pid);
}
