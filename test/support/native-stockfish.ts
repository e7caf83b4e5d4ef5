import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** Returns the path of a native Stockfish on this machine, or undefined. */
export function nativeStockfish(): string | undefined {
  return everyNativeStockfish().at(0);
}

export function everyNativeStockfish(): readonly string[] {
  const folders = [
    ...(process.env.PATH ?? "").split(delimiter),
    "/usr/games",
    "/usr/local/bin",
    "/opt/homebrew/bin",
  ];
  const files = folders.map((folder) => join(folder, "stockfish"));
  return [...new Set(files)].filter(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    // npm adds a link to a WebAssembly Stockfish to the PATH of every script.
    return !file.includes("node_modules");
  } catch {
    return false;
  }
}
