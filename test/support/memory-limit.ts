import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The folder of memory limits, and the names of its files: version 1 of Linux's control groups, or version 2. */
const [root, limitFile, eventsFile] = existsSync("/sys/fs/cgroup/memory")
  ? ["/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.oom_control"]
  : ["/sys/fs/cgroup", "memory.max", "memory.events"];

interface MemoryLimit extends Disposable {
  /** A command prefix. The memory of the command and of its children together is limited. */
  readonly through: readonly string[];
  /** The number of processes that the kernel has killed because of the limit. */
  kills(): number;
}

export function limitMemory(bytes: number): MemoryLimit {
  const folder = join(root, `kibitz-test-${process.pid}-${bytes}`);
  mkdirSync(folder);
  writeFileSync(join(folder, limitFile), String(bytes));
  return {
    through: ["sh", "-c", 'echo $$ > "$0" && exec "$@"', join(folder, "cgroup.procs")],
    kills: () => Number(/oom_kill (\d+)/.exec(readFileSync(join(folder, eventsFile), "utf8"))?.[1]),
    [Symbol.dispose]: () => rmdirSync(folder),
  };
}

export function canLimitMemory(): boolean {
  try {
    limitMemory(1e9)[Symbol.dispose]();
    return true;
  } catch {
    return false;
  }
}
