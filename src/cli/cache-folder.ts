import { tmpdir, userInfo } from "node:os";
import { isAbsolute, join } from "node:path";
import type { Host } from "./host.ts";

/**
 * Returns the folder in which commands store answers: in the user's cache, never in the working directory.
 *
 * @see https://specifications.freedesktop.org/basedir/latest/ for the rule that a relative `XDG_CACHE_HOME` is ignored
 */
export function cacheFolderOf({ env }: Pick<Host, "env">, platform = process.platform): string {
  const { XDG_CACHE_HOME: cache = "", LOCALAPPDATA: appData = "", HOME = "" } = env;
  const home = isAbsolute(HOME) ? HOME : homeByUserId();
  if (isAbsolute(cache)) {
    return join(cache, "kibitz");
  }
  switch (platform) {
    case "darwin":
      return join(home, "Library", "Caches", "kibitz");
    case "win32":
      return join(appData || join(home, "AppData", "Local"), "kibitz", "Cache");
    default:
      return join(home, ".cache", "kibitz");
  }
}

/** Returns the home folder of the user. `os.homedir()` would return `HOME` even if it is empty or relative. */
function homeByUserId(): string {
  try {
    return userInfo().homedir;
  } catch {
    // In some containers, the user id has no name.
    return join(tmpdir(), `kibitz-${process.getuid?.()}`);
  }
}
