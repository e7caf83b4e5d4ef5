import { readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";

/** Figures of a process, as Linux reports them from outside. */
export interface Vitals {
  /** The memory of the process now, and its greatest memory since {@link forgetPeak}, in bytes. */
  readonly rssBytes: number;
  readonly peakBytes: number;
}

export function vitalsOf(pid: number): Vitals {
  const status = readFileSync(`/proc/${pid}/status`, "latin1");
  const bytes = (field: string) =>
    Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) * 1024;
  return { rssBytes: bytes("VmRSS"), peakBytes: bytes("VmHWM") };
}

/** Resets the recorded peak memory of a process to its present memory (proc(5): write 5 to clear_refs). */
export function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, "5");
}

/** Lists the open descriptors of a process, except the pipes to its engines: those come and go with the engines. */
export function descriptorsOf(pid: number): readonly string[] {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder)
    .flatMap((fd) => {
      try {
        return [readlinkSync(`${folder}/${fd}`)];
      } catch {
        // Closed meanwhile.
        return [];
      }
    })
    .toSorted();
}

/** Returns the milliseconds of processor time that a process has used. Linux counts in hundredths of a second. */
export function cpuMsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
