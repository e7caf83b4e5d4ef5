import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const folder = fileURLToPath(new URL("../../docs/adr", import.meta.url));
const textOf = (file: string) => readFileSync(`${folder}/${file}`, "utf8");

const records = globSync("[0-9]*.md", { cwd: folder })
  .toSorted()
  .map((file) => {
    const text = textOf(file);
    const [, number = "", title = ""] = /^# (\d+)\. (.+)\n/.exec(text) ?? [];
    const [, successor] = /^\*\*Status\.\*\* Superseded by \[(\d+)\]/m.exec(text) ?? [];
    return { file, text, number, title, successor };
  });
const index = textOf("README.md");
const rows = [...index.matchAll(/^\| (\d+) \| \[(.+?)\]\((.+?)\) \| (.+?) \| (.+?) \|$/gm)].map(
  ([, number, title, file, line, status = ""]) => ({ number, title, file, line, status }),
);

describe("the index of decisions", () => {
  test("has every record once, by its number and title", () => {
    expect(rows.map(({ number, title, file }) => ({ number, title, file }))).toEqual(
      records.map(({ number, title, file }) => ({ number, title, file })),
    );
    expect(index.match(/^\| \d/gm)).toHaveLength(rows.length);
  });

  test("counts without a gap, in the names of the files, too", () => {
    expect(records.map(({ number }) => Number(number))).toEqual(records.map((_, place) => place + 1));
    expect(records.map(({ file }) => Number(file.slice(0, 4)))).toEqual(records.map((_, place) => place + 1));
  });

  test("says which ones are superseded, as the records do", () => {
    const shown = rows.map(({ status }) => /^superseded by \[(\d+)\]/.exec(status)?.[1] ?? status);
    expect(shown).toEqual(records.map(({ successor }) => successor ?? "accepted"));
  });

  test("finds in each superseding record the one that it supersedes", () => {
    const superseded = records.filter(({ successor }) => successor !== undefined);
    expect(superseded).not.toHaveLength(0);
    for (const { number, file, successor } of superseded) {
      const later = records.find((record) => record.number === successor);
      expect(later?.text).toContain(`supersedes [${number}](${file})`);
    }
  });
});
