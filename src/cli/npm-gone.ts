import type { Host } from "./host.ts";

const checkEveryMs = 1000;

/** Calls `gone` when npm or npx has ended, because most shells do not forward npm's SIGTERM to the server. */
export function onNpmGone({ env }: Pick<Host, "env">, gone: () => void): () => void {
  if (!isAwaitedByNpm(env.npm_lifecycle_script)) {
    return () => {};
  }
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid !== parent || !isRunning(parent)) {
      clearInterval(timer);
      gone();
    }
  }, checkEveryMs).unref();
  return () => clearInterval(timer);
}

/** True if the script runs `kibitz` in the foreground. A child process inherits the script of its parent process. */
function isAwaitedByNpm(script = ""): boolean {
  const background = /(?<![&>])&(?![&>])/;
  return /\bkibitz\b/.test(script) && !background.test(script);
}

/** Windows does not change `process.ppid` when the parent process ends. */
function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
