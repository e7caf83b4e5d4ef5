import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

export function findChromium(): string | undefined {
  return findProgram(["chromium", "chromium-browser", "google-chrome"]);
}

export function findFirefox(): string | undefined {
  return findProgram(["firefox-esr", "firefox"]);
}

function findProgram(names: readonly string[]): string | undefined {
  const folders = (process.env.PATH ?? "").split(delimiter);
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
