import type { Host } from "./host.ts";

const lookEveryMs = 1000;

/**
 * Calls `gone` once if npm, npx or their shell ends before this process. npm passes SIGTERM to the shell that it starts, and most
 * shells do not pass it on. Without this callback, the server would run on as an orphan that holds the port. `exec` in npm's
 * script would do on POSIX, but cmd.exe does not have it. Returns a function that stops watching.
 *
 * A process that npm did not start, or that its script put into the background, outlives its parent as it should.
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

/**
 * True if an npm script runs Kibitz and waits for it. The variable with the script is inherited, so it may be the script of any
 * ancestor.
 */
function isAwaitedByNpm(script = ""): boolean {
  const background = /(?<![&>])&(?![&>])/;
  return /\bkibitz\b/.test(script) && !background.test(script);
}

/** True if a process runs. This is for Windows, where a process keeps the id of a parent that has ended. */
function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
