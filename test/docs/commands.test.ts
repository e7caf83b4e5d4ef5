import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { isLaneName } from "../support/lanes.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Files of other packages, whose `npm run` means their own scripts. */
const otherPackages =
  /^(examples\/typescript|test\/clients\/generated\/typescript|test\/slow\/docs\/stories\/examples)\b/;

const texts = globSync("{*,**/*,.github/**/*}.{md,ts,sh,txt,yaml,yml}", {
  cwd: root,
  exclude: (path) => /(^|\/)(node_modules|dist|release|nightly|data|\.venv|target)$/.test(path),
})
  .concat(".ci/run", ".gitattributes", "package.json")
  .filter((path) => !otherPackages.test(path))
  .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));

function namesIn(pattern: RegExp) {
  return texts.flatMap(({ path, text }) =>
    [...text.matchAll(pattern)].map(([, name = ""]) => ({ name, where: `${path}: ${name}` })),
  );
}

test("every npm script that a file names is in package.json", () => {
  const named = namesIn(/\bnpm run (?:--silent )?([a-z][\w:-]*)/g);
  expect(named.length).toBeGreaterThan(40);
  const unknown = named.filter(({ name }) => !Object.hasOwn(manifest.scripts, name));
  expect(unknown.map(({ where }) => where)).toEqual([]);
});

test("every lane that a file names exists", () => {
  const named = namesIn(/\bnpm run lane -- ([a-z]+)/g);
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter(({ name }) => !isLaneName(name)).map(({ where }) => where)).toEqual([]);
});
