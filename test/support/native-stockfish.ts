import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

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
    // In npm scripts, the PATH also leads to a WebAssembly Stockfish.
    return !file.includes("node_modules");
  } catch {
    return false;
  }
}
