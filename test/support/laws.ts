import { globSync, readFileSync } from "node:fs";
import { dirname, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

export interface SourceFile {
  /** From the root of the repository: `src/chess/score.ts`. */
  readonly path: string;
  readonly text: string;
}

export interface Law {
  readonly promise: string;
  /** Which files it is about. */
  readonly about: (path: string) => boolean;
  /** What breaks it: the line, and what is wrong with it. */
  readonly breaches: (file: SourceFile) => readonly (readonly [line: number, message: string])[];
  readonly broken: readonly SourceFile[];
}

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The sources below some folders of this checkout. */
export function readSources(folders: readonly string[]): readonly SourceFile[] {
  return folders
    .flatMap((folder) => globSync(`${folder}/**/*.{ts,tsx}`, { cwd: root }))
    .map((path) => path.replaceAll("\\", "/"))
    .map((path) => ({ path, text: readFileSync(posix.join(root, path), "utf8") }));
}

/** Tests that no file breaks a law, and that each law would find what breaks it. */
export function testLaws(laws: readonly Law[], files: readonly SourceFile[]): void {
  describe.each(laws)("$promise", ({ about, breaches, broken }) => {
    const reports = (file: SourceFile) =>
      about(file.path) ? breaches(file).map(([line, message]) => `${file.path}:${line} ${message}`) : [];

    test("everywhere", () => {
      expect(files.flatMap(reports)).toEqual([]);
    });

    test.each(broken)("and a breach in $path would be found", (file) => {
      expect(reports(file)).toHaveLength(1);
    });
  });
}

export interface Import {
  readonly line: number;
  /** What is imported: `{ A, type B }`, `* as pb`; empty where nothing is named. */
  readonly names: string;
  /** From the root of the repository, or the name of a package. */
  readonly target: string;
}

export function importsOf({ path, text }: SourceFile): readonly Import[] {
  const statement =
    /^(?:import|export)\s+(?:type\s+)?([^;"]*?)\s*from\s+"([^"]+)"|\bimport\s*\(?\s*()"([^"]+)"/gm;
  return [...text.matchAll(statement)].map((match) => {
    const [, names = "", target = match[4] ?? ""] = match;
    return {
      line: lineAt(text, match.index),
      names,
      target: target.startsWith(".") ? posix.join(dirname(path), target) : target,
    };
  });
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split("\n").length;
}

/** The lines without comments. Strings stand as they are. */
export function codeLinesOf({
  text,
}: SourceFile): readonly { readonly line: number; readonly code: string }[] {
  const stringOrComment =
    /("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\\n])*`)|\/\*[\s\S]*?\*\/|\/\/.*$/gm;
  const code = text.replace(stringOrComment, (found, string) => string ?? found.replace(/[^\n]/g, " "));
  return code.split("\n").map((line, index) => ({ line: index + 1, code: line }));
}
