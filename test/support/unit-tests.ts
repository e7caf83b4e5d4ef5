import { existsSync, globSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL("../..", import.meta.url));

/** Modules that open ports or databases, or start processes such as engines and browsers. */
const outside =
  /^(node:)?(child_process|cluster|dgram|http|http2|https|net|sqlite|tls|worker_threads)$|^(@connectrpc\/connect-node|@grpc\/|playwright|stockfish)/;

/** Returns the test files that import no module of `outside`, directly or through other files. */
export function unitTests(files: readonly string[]): readonly string[] {
  return files.filter((file) => importChainOutside(file) === undefined);
}

export function allTests(): readonly string[] {
  return globSync("test/**/*.test.ts", { cwd: here });
}

/** Returns the chain of imports by which a file reaches something outside the process, or undefined. */
function importChainOutside(file: string, root = here): readonly string[] | undefined {
  const seen = new Set([file]);
  const open: (readonly string[])[] = [[file]];
  for (const way of open) {
    for (const target of importsOf(way.at(-1) as string, root)) {
      if (outside.test(target)) {
        return [...way, target];
      }
      // If the target does not exist, the match is no import but part of a string, such as source text that a test writes.
      if (!seen.has(target) && existsSync(posix.join(root, target)) && target.endsWith(".ts")) {
        seen.add(target);
        open.push([...way, target]);
      }
    }
  }
  return undefined;
}

/** Matches imports, including dynamic imports. Type imports are not matched, because they do not exist at run time. */
const statement = /^(?:import|export)\s+(?!type\b)(?:[^;"]*?\sfrom\s+)?"([^"]+)"|\bimport\(\s*"([^"]+)"/gm;

function importsOf(file: string, root: string): readonly string[] {
  const text = readFileSync(posix.join(root, file), "utf8");
  return [...text.matchAll(statement)].map(([, fixed, dynamic = ""]) => {
    const target = fixed ?? dynamic;
    return target.startsWith(".") ? posix.join(posix.dirname(file), target) : target;
  });
}
