import { tmpdir, userInfo } from "node:os";
import { isAbsolute, join } from "node:path";
import type { Host } from "./host.ts";

/** The user's cache folder. A relative `XDG_CACHE_HOME` is ignored, by https://specifications.freedesktop.org/basedir/latest/. */
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

/** `os.homedir()` would return `HOME` even if it is empty or relative. */
function homeByUserId(): string {
  try {
    return userInfo().homedir;
  } catch {
    // In some containers, the user id has no name.
    return join(tmpdir(), `kibitz-${process.getuid?.()}`);
  }
}
