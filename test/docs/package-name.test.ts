import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { mcpCommand } from "../../src/cli/mcp.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const here = "test/docs/package-name.test.ts";

const texts = globSync("{*,**/*}.{md,ts,js,json,sh,yaml,yml,html,service,toml,go,py,java}", {
  cwd: root,
  exclude: (path) => /(^|\/)(node_modules|dist|release|data|\.venv|target)$/.test(path),
})
  .concat("deploy/Dockerfile", ".ci/run")
  .map((path) => path.replaceAll("\\", "/"))
  .filter((path) => path !== here && path !== "package-lock.json")
  .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));

const runners = /\b(npx|npm (?:exec|x|install|i|add)|pnpm (?:dlx|add)|yarn (?:dlx|add)|bunx)\b([^`"|;&\n]*)/g;
const argumentLists = /\[\s*"-y",([^\]]*)\]/g;
const oldPlaces = /node_modules\/kibitz\/|\bkibitz-\d[\d.]*\.tgz/g;

/**
 * Returns the commands that install or run the package `kibitz`, which belongs to another project on npm. A correct command
 * names `kibitz-chess` or its tarball. In a checkout, `npx kibitz` is correct if the paragraph contains the word "checkout".
 */
function wrongCommandsIn(paragraph: string): readonly string[] {
  const commands = [...paragraph.matchAll(runners)].filter(([, runner, rest = ""]) => {
    const words = rest.split(/[\s'")]+/).map((word) => word.replace(/[.,:]+$/, ""));
    const isOurs = words.some((word) => word.includes(manifest.name));
    const isForeign = words.some((word) => /^(@[\w-]+\/)?kibitz(@.*)?$/.test(word));
    const runsCheckout = runner === "npx" && !words.includes("-y") && /\bcheckout\b/i.test(paragraph);
    return isForeign && !isOurs && !runsCheckout;
  });
  const lists = [...paragraph.matchAll(argumentLists)].filter(
    ([, list = ""]) => /"kibitz(@[^"]*)?"/.test(list) && !list.includes(manifest.name),
  );
  return [...commands, ...lists, ...paragraph.matchAll(oldPlaces)].map(([command]) => command.trim());
}

/**
 * Splits a Markdown file into paragraphs, and any other file into lines. A block of code belongs to the paragraph before the
 * block.
 */
function paragraphsOf({ path, text }: { readonly path: string; readonly text: string }): readonly string[] {
  return path.endsWith(".md") ? text.replace(/\n+(?=```\w)/g, "\n").split("\n\n") : text.split("\n");
}

test("a documented command uses the package name kibitz-chess, or is marked as a command for a checkout", () => {
  expect(manifest).toMatchObject({ name: "kibitz-chess", bin: { kibitz: "bin/kibitz.js" } });
  expect(texts.length).toBeGreaterThan(300);
  const wrong = texts.flatMap((text) =>
    paragraphsOf(text)
      .flatMap(wrongCommandsIn)
      .map((command) => `${text.path}: ${command}`),
  );
  expect(wrong).toEqual([]);
});

test("server.json and package.json have the same names and the same version", () => {
  const server = JSON.parse(readFileSync(join(root, "server.json"), "utf8"));
  expect(server).toMatchObject({
    name: manifest.mcpName,
    version: manifest.version,
    packages: [{ identifier: manifest.name, version: manifest.version, transport: { type: "stdio" } }],
  });
  expect(server.packages[0].packageArguments).toMatchObject([
    { type: "positional", value: mcpCommand.usage },
    { type: "named", name: "--url" },
  ]);
  expect(Object.keys(mcpCommand.options)).toContain("url");
});

test("the version in .nvmrc is the Node version of the npm scripts", () => {
  expect(readFileSync(join(root, ".nvmrc"), "utf8").trim()).toBe(manifest.devDependencies.node);
});
