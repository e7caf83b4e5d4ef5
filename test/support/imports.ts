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
  /** True if the file exports one of the imported names. */
  readonly isReexport: boolean;
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
  const exported = exportedNames(text);
  return [...text.matchAll(statement)].map((match) => {
    const [whole, names = "", target = match[4] ?? ""] = match;
    const imported = wordsOf(names).map((words) => words.at(-1));
    return {
      line: text.slice(0, match.index).split("\n").length,
      names,
      target: target.startsWith(".") ? posix.join(dirname(path), target) : target,
      isReexport: whole.startsWith("export") || imported.some((name) => exported.has(name)),
    };
  });
}

/** Returns the names in lists such as `export { A, type B as C }`, and in aliases such as `export type C = B`. */
function exportedNames(text: string): ReadonlySet<string | undefined> {
  const lists = [...text.matchAll(/^export\s+(?:type\s+)?\{([^}]*)\}/gm)].flatMap(([, names = ""]) =>
    wordsOf(names).map(([name]) => name),
  );
  const aliases = [...text.matchAll(/^export\s+(?:const|type)\s+\w+\s*=\s*([\w$]+);/gm)].map(
    ([, name]) => name,
  );
  return new Set([...lists, ...aliases]);
}

/** Splits the names of an import or export: `{ A, type B as C }` has the words `A`, and `B`, `as`, `C`. */
function wordsOf(names: string): readonly (readonly string[])[] {
  return names
    .split(/[{},]/)
    .map((part) => part.trim().split(/\s+/))
    .map((words) => (words[0] === "type" && words.length > 1 ? words.slice(1) : words))
    .filter(([word]) => word !== "");
}
