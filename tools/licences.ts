/** Lists the licences of all packages. Exits with 1 if a licence is not compatible with GPL-3.0-or-later. */
import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** From https://www.gnu.org/licenses/license-list.html. */
const compatible: ReadonlySet<string> = new Set([
  "0BSD",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "BlueOak-1.0.0",
  "GPL-3.0",
  "GPL-3.0-or-later",
  "ISC",
  "MIT",
]);

/**
 * Packages with another licence that may be used. Kibitz runs `@lichess-org/stockfish-web`, unmodified, in a process of its own,
 * and section 13 of the GPL also allows to combine it with works under the AGPL. See docs/adr/0040.
 */
const exceptions: ReadonlyMap<string, string> = new Map([
  ["@lichess-org/stockfish-web", "AGPL-3.0-or-later"],
]);

interface Installed {
  readonly version: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
}

const { packages } = JSON.parse(readFileSync(new URL("../package-lock.json", import.meta.url), "utf8")) as {
  packages: Record<string, Installed>;
};
const bundled = bundledPackages();
const rows = Object.entries(packages)
  .filter(([path, { dev }]) => path !== "" && (!dev || bundled.has(path)))
  .map(([path, { version, license = "none" }]) => ({
    name: path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length),
    version,
    license,
  }));

/** Returns the packages that the page imports, and their dependencies. Each package is a path in `package-lock.json`. */
function bundledPackages(): ReadonlySet<string> {
  const root = fileURLToPath(new URL("..", import.meta.url));
  const sources = globSync("web/src/**/*.{ts,tsx}", { cwd: root }).map((file) =>
    readFileSync(root + file, "utf8"),
  );
  const named = sources.flatMap((text) =>
    [...text.matchAll(/(?:from|^import) "((?:@[\w-]+\/)?[\w-]+)/gm)].map(
      ([, name]) => `node_modules/${name}`,
    ),
  );
  const found = new Set(named);
  // The loop also visits the paths that are added during the loop.
  for (const path of found) {
    for (const name of Object.keys(packages[path]?.dependencies ?? {})) {
      found.add(`node_modules/${name}`);
    }
  }
  return found;
}

/** Accepts an SPDX expression, which may combine licences by `AND` or `OR`. */
function isCompatible(license: string): boolean {
  const plain = license.replace(/^\(|\)$/g, "");
  return plain.includes(" OR ")
    ? plain.split(" OR ").some(isCompatible)
    : plain.split(" AND ").every((each) => compatible.has(each));
}

for (const { name, version, license } of rows) {
  console.log(`${license.padEnd(28)} ${name} ${version}`);
}
const refused = rows.filter(
  ({ name, license }) => exceptions.get(name) !== license && !isCompatible(license),
);
if (refused.length > 0) {
  console.error(
    `not known to be compatible with GPL-3.0-or-later: ${refused.map(({ name }) => name).join(", ")}`,
  );
  process.exit(1);
}
