import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { stories } from "../slow/docs/stories/index.ts";
import { missingIn, treatBlocks } from "../slow/docs/story.ts";
import { blocksIn, blocksOf, indentedCodeIn, markdownFiles } from "./blocks.ts";

const root = join(import.meta.dirname, "../..");
const withBlocks = markdownFiles.filter((path) => blocksOf(path).length > 0);
const treated = stories.flatMap((story) =>
  story.documents.flatMap((document) => treatBlocks(story, document).map((one) => ({ ...one, story }))),
);
const at = ({ document, line }: { readonly document: string; readonly line: number }) =>
  `${document}:${line}`;

describe("the blocks of the documents", () => {
  test("every document with a block of code belongs to one story, which `npm run lane -- slow test/slow/docs` runs", () => {
    expect(withBlocks.length).toBeGreaterThan(20);
    const told = stories.flatMap(({ documents }) => documents);
    expect(told.toSorted()).toEqual(withBlocks);
  });

  test("every block of a document runs, is checked, or is marked with the reason why it does not run", () => {
    const forgotten = treated.filter(({ treatment }) => treatment === undefined);
    expect(forgotten.map(({ block }) => at(block))).toEqual([]);
  });

  test("at most 15 blocks of all documents are marked as not run", () => {
    const marked = withBlocks.flatMap(blocksOf).filter(({ notRun }) => notRun !== undefined);
    expect(marked.length, marked.map(at).join("\n")).toBeLessThanOrEqual(15);
    const marks = markdownFiles.flatMap((path) =>
      readFileSync(join(root, path), "utf8").match(/^ *<!-- *not run/gm),
    );
    expect(marks.filter((mark) => mark !== null)).toHaveLength(marked.length);
  });

  test("every special block of a story is in its document, once", () => {
    for (const { document, has } of stories.flatMap(({ blocks = [] }) => blocks)) {
      expect(
        blocksOf(document).filter(({ text }) => text.includes(has)),
        `${document}: ${has}`,
      ).toHaveLength(1);
    }
  });

  test("a block that another run contains has the commands of that run", () => {
    for (const { block, treatment } of treated) {
      if (treatment?.kind === "ran elsewhere") {
        expect(missingIn(treatment.by, block), at(block)).toEqual([]);
      }
    }
  });

  test("no document has indented code, which the reader of blocks would not find", () => {
    const indented = markdownFiles.flatMap((path) =>
      indentedCodeIn(readFileSync(join(root, path), "utf8")).map((line) => `${path}: ${line}`),
    );
    expect(indented).toEqual([]);
  });
});

test("blocks in lists, with longer fences and with a mark are read without their indentation", () => {
  const text = [
    "1. x",
    "",
    "   ````sh",
    "   a",
    "    b",
    "   ```",
    "   ````",
    "<!-- not run: why -->",
    "~~~",
    "c",
    "~~~",
  ];
  expect(blocksIn(text.join("\n"), "x.md")).toMatchObject([
    { line: 3, language: "sh", text: "a\n b\n```", before: "1. x\n" },
    { line: 9, language: "", text: "c", notRun: "why" },
  ]);
});

test("indented code is found below a paragraph and below an item of a list", () => {
  const text = ["a", "", "    code", "", "- item", "", "  more", "", "      code in the item", "", "b"];
  expect(indentedCodeIn(text.join("\n"))).toEqual(["    code", "      code in the item"]);
});
