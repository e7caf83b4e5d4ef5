import { userInfo } from "node:os";
import { isAbsolute } from "node:path";

/**
 * Returns the home folder of the user. Undefined if the user id has no user name, as in some containers.
 * Does not use `os.homedir()`, which returns `HOME` even if `HOME` is empty or relative.
 */
export function homeOf({ HOME = "" }: Readonly<Record<string, string | undefined>>): string | undefined {
  if (isAbsolute(HOME)) {
    return HOME;
  }
  try {
    return userInfo().homedir;
  } catch {
    return undefined;
  }
}
