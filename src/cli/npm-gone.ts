import type { Host } from "./host.ts";

const checkEveryMs = 1000;

/**
 * Calls `gone` once when npm, npx or their shell has ended. Without this function, the server would keep running and keep its
 * port, because most shells do not forward npm's SIGTERM. Returns a function that stops the timer.
 */
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

/**
 * Returns true if `script` starts `kibitz` in the foreground. `script` can be the script of a parent process, because
 * environment variables are inherited.
 */
function isAwaitedByNpm(script = ""): boolean {
  const background = /(?<![&>])&(?![&>])/;
  return /\bkibitz\b/.test(script) && !background.test(script);
}

/** This check is necessary on Windows, where `process.ppid` does not change when the parent process ends. */
function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
