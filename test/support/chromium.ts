import { accessSync, constants } from "node:fs";

/** A Chromium on this machine, or undefined. */
export function chromium(): string | undefined {
  return ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
