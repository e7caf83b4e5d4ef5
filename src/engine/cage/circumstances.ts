import { accessSync, constants, readFileSync } from "node:fs";
import { join } from "node:path";
import { type HardLimits, type Tool, tools } from "./layers.ts";

const toolFolders = ["/usr/bin", "/bin", "/usr/sbin", "/sbin"];

/** Where the tools are that this machine has. */
export function findTools(): Partial<Record<Tool, string>> {
  const found = tools.map((tool) => [
    tool,
    toolFolders.map((folder) => join(folder, tool)).find(isExecutable),
  ]);
  return Object.fromEntries(found.filter(([, path]) => path !== undefined));
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** As the kernel tells them; without it there is nothing to limit either. */
export function hardLimits(): HardLimits {
  const most = { openFiles: Number.POSITIVE_INFINITY, dataBytes: Number.POSITIVE_INFINITY };
  try {
    const limits = readFileSync("/proc/self/limits", "utf8");
    const hard = (name: string) =>
      Number(new RegExp(`^${name} +\\S+ +(\\d+)`, "m").exec(limits)?.[1] ?? Infinity);
    return { openFiles: hard("Max open files"), dataBytes: hard("Max data size") };
  } catch {
    return most;
  }
}
