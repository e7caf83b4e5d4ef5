import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");

/** A block of code of a document. */
export interface Block {
  readonly document: string;
  /** The number of the first line of the block, for messages. */
  readonly line: number;
  /** The first word after the fence, such as `sh`. Empty without such a word. */
  readonly language: string;
  /** The lines between the fences, without the indentation of the list that contains the block. */
  readonly text: string;
  /** The text between this block and the block before it. */
  readonly before: string;
  /** The reason of a mark `<!-- not run: reason -->` in the line above the block. */
  readonly notRun?: string;
}

/** All Markdown files of the project, without those of other projects. */
export const markdownFiles: readonly string[] = globSync("**/*.md", {
  cwd: root,
  exclude: (path) => /(^|\/)(node_modules|dist|release|nightly|data|target|\.venv)$/.test(path),
}).toSorted();

/** A mark that says why nothing runs the block below it. */
const mark = /^ *<!-- not run: (.+) -->$/;

/** Reads the blocks by CommonMark's rules for fenced code. Our documents have no indented code, which would look like a list. */
export function blocksOf(document: string): readonly Block[] {
  return blocksIn(readFileSync(join(root, document), "utf8"), document);
}

export function blocksIn(markdown: string, document: string): readonly Block[] {
  const blocks: Block[] = [];
  const lines = markdown.split("\n");
  let before: string[] = [];
  for (let at = 0; at < lines.length; at++) {
    const [, indent = "", fence, info = ""] = /^( *)(`{3,}|~{3,})([^`]*)$/.exec(lines[at] ?? "") ?? [];
    if (fence === undefined) {
      before.push(lines[at] ?? "");
      continue;
    }
    const first = at + 1;
    const closes = new RegExp(`^ *${fence[0]}{${fence.length},} *$`);
    do {
      at++;
    } while (at < lines.length && !closes.test(lines[at] ?? ""));
    const [, reason] = mark.exec(before.at(-1) ?? "") ?? [];
    blocks.push({
      document,
      line: first,
      language: info.trim().split(/\s/, 1)[0] ?? "",
      text: lines
        .slice(first, at)
        .map((line) => line.replace(new RegExp(`^ {0,${indent.length}}`), ""))
        .join("\n"),
      before: before.join("\n"),
      ...(reason !== undefined && { notRun: reason }),
    });
    before = [];
  }
  return blocks;
}

/** Returns the lines of indented code: after an empty line, at least four spaces more than the text of the list around them. */
export function indentedCodeIn(markdown: string): readonly string[] {
  const found: string[] = [];
  let isFenced = false;
  let inner = 0;
  let last = "";
  for (const line of markdown.split("\n")) {
    if (/^ *(```|~~~)/.test(line)) {
      isFenced = !isFenced;
    } else if (!isFenced && line.trim() !== "") {
      const indent = /^ */.exec(line)?.[0].length ?? 0;
      const [item] = /^ *(?:[-*+]|\d+[.)]) +/.exec(line) ?? [];
      if (last.trim() === "" && indent >= inner + 4) {
        found.push(line);
      } else if (item !== undefined) {
        inner = item.length;
      } else if (indent < inner && last.trim() === "") {
        inner = 0;
      }
    }
    last = line;
  }
  return found;
}

/** True if a shell runs the block. */
export const isShell = ({ language }: Block) => ["sh", "bash", "console"].includes(language);
