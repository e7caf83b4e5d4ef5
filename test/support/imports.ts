import { globSync, readFileSync } from "node:fs";
import { dirname, posix } from "node:path";
import { fileURLToPath } from "node:url";

interface SourceFile {
  /** The path from the root of the repository, such as `src/chess/score.ts`. */
  readonly path: string;
  readonly text: string;
}

export interface Import {
  readonly line: number;
  /** The imported names, such as `{ A, type B }` or `* as pb`; empty if the import names nothing. */
  readonly names: string;
  /** The path of the imported file from the root of the repository, or the name of a package. */
  readonly target: string;
}

const root = fileURLToPath(new URL("../..", import.meta.url));

export function readSources(folders: readonly string[]): readonly SourceFile[] {
  return folders
    .flatMap((folder) => globSync(`${folder}/**/*.{ts,tsx}`, { cwd: root }))
    .map((path) => ({ path, text: readFileSync(posix.join(root, path), "utf8") }));
}

/** Returns every import and re-export of a file, including types. */
export function importsOf({ path, text }: SourceFile): readonly Import[] {
  const statement =
    /^(?:import|export)\s+(?:type\s+)?([^;"]*?)\s*from\s+"([^"]+)"|\bimport\s*\(?\s*()"([^"]+)"/gm;
  return [...text.matchAll(statement)].map((match) => {
    const [, names = "", target = match[4] ?? ""] = match;
    return {
      line: text.slice(0, match.index).split("\n").length,
      names,
      target: target.startsWith(".") ? posix.join(dirname(path), target) : target,
    };
  });
}
