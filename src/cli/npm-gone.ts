import type { Host } from "./host.ts";

const lookEveryMs = 1000;

/**
 * Calls `gone` once if npm, npx or their shell ends first: most shells do not pass on npm's SIGTERM, so the server would hold the
 * port as an orphan. (`exec` in npm's script would do on POSIX, but cmd.exe lacks it.) A process that npm did not start, or that
 * its script put into the background, outlives its parent as it should. Returns a function that stops watching.
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

/** The variable with the npm script is inherited, so it may be the script of any ancestor. */
function isAwaitedByNpm(script = ""): boolean {
  const background = /(?<![&>])&(?![&>])/;
  return /\bkibitz\b/.test(script) && !background.test(script);
}

/** On Windows, a process keeps the id of a parent that has ended. */
function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
