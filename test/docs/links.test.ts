import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

const documents = globSync("**/*.md", { cwd: root, exclude: (path) => /(^|\/)node_modules$/.test(path) })
  .map((path) => path.replaceAll("\\", "/"))
  .filter((path) => !/(^|\/)(dist|release|data|node_modules|\.venv)\//.test(path))
  .toSorted()
  .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));

/** Removes blocks of code, which contain no links. */
function prose(text: string): string {
  return text.replace(/^```[\s\S]*?^```/gm, "");
}

/** Builds the anchors of headings by the rules of GitHub. */
function anchorsOf(text: string): readonly string[] {
  return [...prose(text).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

/** Returns the links to missing files or headings of the project. */
function deadLinksIn({ path, text }: { readonly path: string; readonly text: string }): readonly string[] {
  const links = [...prose(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link);
  return links.filter((link) => {
    if (/^[a-z]+:/.test(link)) {
      return false;
    }
    const [target = "", anchor] = link.split("#");
    const file = target === "" ? path : posix.join(dirname(path), target);
    if (!existsSync(join(root, file))) {
      return true;
    }
    return anchor !== undefined && !anchorsOf(readFileSync(join(root, file), "utf8")).includes(anchor);
  });
}

/** A path in a document may omit `src/`, `test/` or `tools/`. */
const places = ["", "src", "test", "tools"];

/** The names of the modules of `src/`. `text` is omitted, because media types also begin with `text/`. */
const modules = readdirSync(join(root, "src"), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && entry.name !== "text")
  .map(({ name }) => name);
const inModule = new RegExp(`^(${modules.join("|")})/[\\w./*-]+$`);

/** Returns the paths in a document that do not exist. */
function deadPathsIn({ path, text }: { readonly path: string; readonly text: string }): readonly string[] {
  const named = [...prose(text).matchAll(/`([^`\s]+)`/g)].map(([, name = ""]) => name);
  const paths = named.filter(
    (name) =>
      /^(src|test|bench|tools|docs|examples|proto|gen|third_party|\.ci)\/[\w./*-]*$/.test(name) ||
      inModule.test(name) ||
      /^[\w.*-]+(\/[\w.*-]+)+\.(ts|js|sh|md|proto|json)$/.test(name),
  );
  const isThere = (name: string) =>
    [...places, dirname(path)].some((place) => globSync(posix.join(place, name), { cwd: root }).length > 0);
  // Documents may also name a module without its file extension.
  return paths.filter((name) => ![name, `${name}.ts`, `${name}.test.ts`].some(isThere));
}

test.each(documents)("every link in $path has an existing target", (document) => {
  expect(deadLinksIn(document)).toEqual([]);
});

test.each(documents)("every file that is named in $path exists", (document) => {
  expect(deadPathsIn(document)).toEqual([]);
});

test("docs/runbook/README.md names a test for every fault", () => {
  const { text = "" } = documents.find(({ path }) => path === "docs/runbook/README.md") ?? {};
  const cells = [...text.matchAll(/^\| .+ \| ([^|]+) \|$/gm)].map(([, cell = ""]) => cell);
  const tests = cells.flatMap((cell) =>
    [...cell.matchAll(/`([a-z-]+(?:\/[a-z-]+)+(?:\.timed|\.nightly)?)`/g)].map(([, name]) => name),
  );
  expect(tests.length).toBeGreaterThan(10);
  expect(tests.filter((name) => !existsSync(join(root, "test", `${name}.test.ts`)))).toEqual([]);
});
