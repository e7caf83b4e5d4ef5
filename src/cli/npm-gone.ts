import type { Host } from "./host.ts";

const lookEveryMs = 1000;

/**
 * Calls `gone` once when npm, npx or their shell has ended. Otherwise the server would keep its port, because most shells do
 * not forward npm's SIGTERM. Does nothing if npm did not start this process, or started this process in the background. Returns
 * a function that ends the observation.
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
  }, lookEveryMs).unref();
  return () => clearInterval(timer);
}

/** `script` may belong to any ancestor process, because environment variables are inherited. */
function isAwaitedByNpm(script = ""): boolean {
  const background = /(?<![&>])&(?![&>])/;
  return /\bkibitz\b/.test(script) && !background.test(script);
}

/** Needed on Windows, where `process.ppid` does not change when the parent process ends. */
function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
