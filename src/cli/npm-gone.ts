import { every } from "../time/time.ts";
import type { Host } from "./host.ts";

const checkEveryMs = 1000;

/**
 * Calls `gone` when npm or npx has ended. Most shells do not forward npm's SIGTERM, so the server must notice the end itself.
 */
export function onNpmGone({ env }: Pick<Host, "env">, gone: () => void): () => void {
  if (!isAwaitedByNpm(env.npm_lifecycle_script)) {
    return () => {};
  }
  const parent = process.ppid;
  const timer = every(checkEveryMs, () => {
    if (process.ppid !== parent || !isRunning(parent)) {
      timer.cancel();
      gone();
    }
  }).unref();
  return () => timer.cancel();
}

/** True if the npm script starts `kibitz` in the foreground. Other programs that the script starts get the same script text. */
function isAwaitedByNpm(script = ""): boolean {
  const background = /(?<![&>])&(?![&>])/;
  return /\bkibitz\b/.test(script) && !background.test(script);
}

/** On Windows, `process.ppid` does not change when the parent process ends. So this function looks for the process itself. */
function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
