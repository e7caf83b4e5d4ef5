import { globSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

const root = new URL("../../", import.meta.url);
const page = readFileSync(new URL("docs/tracing.md", root), "utf8");
const sources = globSync("src/tracing/*.ts", { cwd: root.pathname })
  .map((file) => readFileSync(new URL(file, root), "utf8"))
  .join("\n");

const found = (text: string, pattern: RegExp) =>
  [...new Set([...text.matchAll(pattern)].map(([, name = ""]) => name))].toSorted();

describe("docs/tracing.md", () => {
  test("lists every attribute of ours, and no other", () => {
    const attributes = (text: string) => found(text, /\b(kibitz\.[a-z_.]+[a-z])\b/g);
    const told = attributes(sources);
    expect(told.length).toBeGreaterThan(10);
    expect(attributes(page).filter((name) => !told.includes(name) && name !== "kibitz.limit")).toEqual([]);
    const unnamed = told.filter((name) => !name.startsWith("kibitz.limit.") && !page.includes(name));
    expect(unnamed).toEqual([]);
  });

  test("lists every variable that is read here", () => {
    const read = found(sources, /"(OTEL_[A-Z_]+)"/g);
    expect(read.length).toBeGreaterThan(10);
    const listed = page.replaceAll("…_", "OTEL_EXPORTER_OTLP_");
    const missing = read.filter(
      (name) => !listed.includes(name) && !listed.includes(name.replace("_TRACES_", "_")),
    );
    expect(missing).toEqual([]);
  });

  test("names every span", () => {
    const names = found(sources, /\.(?:inNew|begin)\(\s*"([a-z ]+)"/g);
    expect(names).toEqual(["engine search", "engine start", "join search", "queue", "search"]);
    for (const name of [...names, "batch item", "position", "cache memory", "cache store", "cache shared"]) {
      expect(page).toContain(`\`${name}\``);
    }
  });
});
