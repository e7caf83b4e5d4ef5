import { readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";

interface Vitals {
  readonly rssBytes: number;
  /** The peak memory since the last call of {@link forgetPeak}. */
  readonly peakBytes: number;
}

export function vitalsOf(pid: number): Vitals {
  const status = readFileSync(`/proc/${pid}/status`, "latin1");
  const bytes = (field: string) =>
    Number(new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) * 1024;
  return { rssBytes: bytes("VmRSS"), peakBytes: bytes("VmHWM") };
}

/** Resets the peak memory of a process to its current memory, by writing 5 to `clear_refs` (see `man 5 proc`). */
export function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, "5");
}

/** Lists what the open file descriptors of a process refer to, such as files, pipes and sockets. */
export function descriptorsOf(pid: number): readonly string[] {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder)
    .flatMap((fd) => {
      try {
        return [readlinkSync(`${folder}/${fd}`)];
      } catch {
        // The descriptor was closed during the listing.
        return [];
      }
    })
    .toSorted();
}

/** Returns the processor time of a process, in steps of 10 ms. */
export function cpuMsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
