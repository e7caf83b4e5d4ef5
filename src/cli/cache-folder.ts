import { tmpdir, userInfo } from "node:os";
import { isAbsolute, join } from "node:path";
import type { Host } from "./host.ts";

/** Ignores a relative `XDG_CACHE_HOME`, as https://specifications.freedesktop.org/basedir/latest/ requires. */
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

/** Does not use `os.homedir()`, which returns `HOME` even if `HOME` is empty or relative. */
function homeByUserId(): string {
  try {
    return userInfo().homedir;
  } catch {
    // In some containers, the user id has no user name.
    return join(tmpdir(), `kibitz-${process.getuid?.()}`);
  }
}
