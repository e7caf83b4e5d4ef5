// @ts-check
import { mkdirSync, statSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";

/** Beside what npm keeps. */
const usualFolder = fileURLToPath(new URL("../node_modules/.cache/kibitz", import.meta.url));

/** Whoever else may write there can have this process run what they like: others, and their groups. */
const writableByOthers = 0o022;

/**
 * Keeps what stripping types and compiling gave, for the next start, in a folder that nobody else can write to. Not in
 * Node's own (26.10), in the folder for temporary files: it takes that from whoever made it first.
 */
export function keepCompiled(folder = usualFolder) {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const { uid, mode } = statSync(folder);
    if (uid === process.getuid?.() && (mode & writableByOthers) === 0) {
      enableCompileCache(folder);
    }
  } catch {
    // A folder of somebody else, or one that cannot be written to: every start compiles anew.
  }
}
