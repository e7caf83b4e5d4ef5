import { tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import { homeOf } from "../wiring/home.ts";
import type { Host } from "./host.ts";

/** Ignores a relative `XDG_CACHE_HOME`, as https://specifications.freedesktop.org/basedir/latest/ requires. */
export function cacheFolderOf({ env }: Pick<Host, "env">, platform = process.platform): string {
  const { XDG_CACHE_HOME: cache = "", LOCALAPPDATA: appData = "" } = env;
  const home = homeOf(env) ?? join(tmpdir(), `kibitz-${process.getuid?.()}`);
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
