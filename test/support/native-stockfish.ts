import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** A native Stockfish on this machine, or undefined: the only component that a test run may lack. */
export function nativeStockfish(): string | undefined {
  const folders = [
    ...(process.env.PATH ?? "").split(delimiter),
    "/usr/games",
    "/usr/local/bin",
    "/opt/homebrew/bin",
  ];
  return folders.map((folder) => join(folder, "stockfish")).find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    // npm puts a link to its own WebAssembly build on the path of every script.
    return !file.includes("node_modules");
  } catch {
    return false;
  }
}
