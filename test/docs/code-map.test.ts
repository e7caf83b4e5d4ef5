import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const architecture = readFileSync(join(root, "ARCHITECTURE.md"), "utf8");

/** The rows of the table below a heading: the first column, and the second. */
function rowsBelow(heading: string): readonly (readonly [string, string])[] {
  const [, section = ""] = new RegExp(`\\n## ${heading}\\n([\\s\\S]+?)(\\n## |$)`).exec(architecture) ?? [];
  return [...section.matchAll(/^\| (.+?) \| (.+) \|$/gm)]
    .map(([, first = "", second = ""]) => [first, second] as const)
    .slice(1);
}

const codeIn = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);

describe("the code map in ARCHITECTURE.md", () => {
  const rows = rowsBelow("The code map").map(([place, about]) => ({ places: codeIn(place), about }));

  test("has every room", () => {
    const rooms = readdirSync(join(root, "src"), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => `src/${name}/`);
    const named = rows.flatMap(({ places }) => places);
    const missing = rooms.filter((room) => !named.some((place) => place.startsWith(room)));
    expect(missing).toEqual([]);
  });

  test("names files that are in the rooms of their rows", () => {
    const files = rows.flatMap(({ places, about }) =>
      codeIn(about)
        .filter((code) => /^[\w-]+\.ts$/.test(code))
        .map((file) => ({ file, places })),
    );
    expect(files.length).toBeGreaterThan(25);
    expect(
      files.filter(({ file, places }) => !places.some((place) => existsSync(join(root, place, file)))),
    ).toEqual([]);
  });
});

test("the glossary is in the order of the alphabet", () => {
  const words = rowsBelow("Glossary").map(([word]) => word);
  expect(words.length).toBeGreaterThan(30);
  expect(words).toEqual(words.toSorted((a, b) => a.localeCompare(b)));
});

test(".nvmrc names the Node that npm scripts run on", () => {
  const { devDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  expect(readFileSync(join(root, ".nvmrc"), "utf8").trim()).toBe(devDependencies.node);
});
