/**
 * Draws doc comments, test names and sentences for readers who have not seen the code. The hash of the commit is the seed, so
 * that nobody can choose the result.
 *
 *     node tools/draw-words.ts
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

interface Drawn {
  readonly file: string;
  readonly text: string;
}

const git = (...args: readonly string[]) => execFileSync("git", args, { encoding: "utf8" }).trim();
const commit = git("rev-parse", "HEAD");
const files = git("ls-files").split("\n");
const sources = files.filter((file) => /^(src|web|test|bench|tools)\/.*\.tsx?$/.test(file));

const comments = (text: string) =>
  [...text.matchAll(/\/\*\*([\s\S]*?)\*\//g)].map(([, comment = ""]) => comment.replaceAll(/^\s*\*/gm, ""));
const testNames = (text: string) =>
  [...text.matchAll(/^\s*(?:test\(|test\.\w+\(|(?:\]|\)).*\)\()"((?:[^"\\]|\\.)+)",/gm)].map(
    ([, name = ""]) => name,
  );

/** Returns the sentences of a document, without its code, tables, headings and lists of links. */
const sentences = (text: string) =>
  text
    .replaceAll(/^(```|~~~)[\s\S]*?^\1.*$/gm, "")
    .split(/\n\s*\n/)
    .filter((paragraph) => !/^\s*([#|>]|!\[|<)/.test(paragraph))
    .flatMap((paragraph) => paragraph.split(/(?<=[.!?:])\s+(?=[A-Z`*[]|[-*] |\d+\. )/));

show("Doc comments", draw(40, sources, comments));
show(
  "Test names",
  draw(
    20,
    sources.filter((file) => file.endsWith(".test.ts")),
    testNames,
  ),
);
show(
  "Sentences of the documents",
  draw(
    20,
    files.filter((file) => file.endsWith(".md")),
    sentences,
  ),
);

/** Draws pieces of text that have more than three words, in the order of the hashes of the commit, file and text. */
function draw(
  count: number,
  from: readonly string[],
  piecesOf: (text: string) => readonly string[],
): readonly Drawn[] {
  const all = from.flatMap((file) =>
    piecesOf(readFileSync(file, "utf8"))
      .map((text) => ({ file, text: text.replaceAll(/\s+/g, " ").trim() }))
      .filter(({ text }) => text.split(" ").length > 3),
  );
  const order = ({ file, text }: Drawn) =>
    createHash("sha256").update(`${commit}\n${file}\n${text}`).digest("hex");
  return all
    .map((piece) => ({ ...piece, order: order(piece) }))
    .sort((one, other) => (one.order < other.order ? -1 : 1))
    .slice(0, count);
}

function show(title: string, drawn: readonly Drawn[]): void {
  console.log(`\n## ${title} (commit ${commit.slice(0, 12)})\n`);
  for (const [index, { file, text }] of drawn.entries()) {
    console.log(`${index + 1}. ${text}  (${file})`);
  }
}
