import type { Host } from "./host.ts";

const lookEveryMs = 1000;

/**
 * Calls back once if npm, npx or their shell ends before this process. npm passes SIGTERM to the shell between them, and most
 * shells do not pass it on: without this, the server would go on as an orphan that holds the port. `exec` in npm's script would do
 * on POSIX, but cmd.exe has none. Returns a function that stops watching.
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

/** True for an npm script that runs Kibitz and waits for it. Processes below any other script see that script here. */
function isAwaitedByNpm(script = ""): boolean {
  const background = /(?<![&>])&(?![&>])/;
  return /\bkibitz\b/.test(script) && !background.test(script);
}

/** For Windows: there a process keeps the id of a parent that has ended. */
function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
