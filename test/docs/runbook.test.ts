import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { alerts } from "../deploy/monitoring/read-rules.ts";

const folder = fileURLToPath(new URL("../../docs/runbook/", import.meta.url));
const textOf = (file: string) => readFileSync(folder + file, "utf8");
const severityOf = (text: string) => /severity: (\w+)/.exec(text)?.[1] ?? "";
const headings = ["What it means", "Where to look", "What to do", "When it ends"];

describe("the runbook", () => {
  test("the runbook has a page for each alert, and no other page", () => {
    const pages = globSync("Kibitz*.md", { cwd: folder });
    expect(pages.toSorted()).toEqual(alerts.map(({ name }) => `${name}.md`).toSorted());
    expect(globSync("*.md", { cwd: folder })).toHaveLength(pages.length + 1);
  });

  test("the runbook lists all alerts of the rules with their severity", () => {
    const rows = [...textOf("README.md").matchAll(/^\| \[(\w+)\]\((\w+)\.md\) \| (\w+) \| .+ \|$/gm)];
    expect(rows.map(([, name, page, severity]) => ({ name, page, severity }))).toEqual(
      alerts.map(({ name, text }) => ({ name, page: name, severity: severityOf(text) })),
    );
  });

  test.each(alerts)("the runbook page of $name has the four standard sections", ({ name, text }) => {
    const page = textOf(`${name}.md`);
    expect(page).toContain(`# ${name}\n\n**Severity.** ${severityOf(text)}\n`);
    const sections = page
      .split(/^## /m)
      .slice(1)
      .map((section) => section.split("\n\n"));
    expect(sections.map(([heading]) => heading)).toEqual(headings);
    for (const [heading, ...content] of sections) {
      expect(content.join("").length, heading).toBeGreaterThan(15);
    }
  });
});
