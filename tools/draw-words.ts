/** Draws comments, test names and sentences for readers. The commit is the seed, so that nobody can choose the result. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

interface Piece {
  readonly text: string;
  /** The line of code below a comment, or the heading above a sentence. */
  readonly place?: string | undefined;
}

interface Drawn extends Piece {
  readonly file: string;
}

const git = (...args: readonly string[]) => execFileSync("git", args, { encoding: "utf8" }).trim();
const commit = git("rev-parse", "HEAD");
const files = git("ls-files").split("\n");
const sources = files.filter((file) => /^(src|web|test|bench|tools)\/.*\.tsx?$/.test(file));
const tests = sources.filter((file) => file.endsWith(".test.ts"));
const documents = files.filter((file) => file.endsWith(".md"));

show("Doc comments", draw(40, sources, comments));
show("Test names", draw(20, tests, testNames));
show("Sentences of the documents", draw(20, documents, sentences));

function comments(source: string): readonly Piece[] {
  return [...source.matchAll(/^\s*\/\*\*\s([\s\S]*?)\*\/\s*(.*)/gm)].map(([, comment = "", place]) => ({
    text: comment.replaceAll(/^\s*\*/gm, ""),
    place,
  }));
}

function testNames(source: string): readonly Piece[] {
  const names = source.matchAll(
    /(?:^\s*(?:test|it)(?:\.\w+)*\(|\)\()\s*(["`])((?:\\.|(?!\1)[^\\])+)\1,\s*(?:async )?\(/gm,
  );
  // The name after `describe.each(…)(` is that of a group.
  const isGroup = (found: string, index: number) =>
    found.startsWith(")") &&
    source
      .slice(0, index)
      .match(/\b(?:describe|test|it)\w*[.(]/g)
      ?.at(-1)
      ?.startsWith("describe");
  return [...names]
    .filter(({ 0: found, index }) => !isGroup(found, index))
    .map(([, , text = ""]) => ({ text }));
}

/** Returns the sentences of a document, without its code, tables, headings and pictures. */
function sentences(document: string): readonly Piece[] {
  const withoutCode = document.replaceAll(/^(```|~~~)[\s\S]*?^\1.*$/gm, "");
  return withoutCode.split(/^(?=#+ )/m).flatMap((section) => {
    const place = section.match(/^#+ (.*)/)?.[1];
    return section
      .split(/\n\s*\n/)
      .filter((paragraph) => !/^\s*([#|>]|!\[|<)/.test(paragraph))
      .flatMap((paragraph) => paragraph.split(/(?<=[.!?])\s+(?=[A-Z`*[])|\n\s*(?=[-*] |\d+\. )/))
      .map((text) => ({ text, place }));
  });
}

/** Draws texts of more than three words. The hash of commit, file and text decides which texts are drawn. */
function draw(
  count: number,
  from: readonly string[],
  piecesOf: (text: string) => readonly Piece[],
): readonly Drawn[] {
  const all = from.flatMap((file) =>
    piecesOf(readFileSync(file, "utf8"))
      .map(({ text, place }) => ({ file, place, text: text.replaceAll(/\s+/g, " ").trim() }))
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
  for (const [index, { file, text, place }] of drawn.entries()) {
    console.log(`${index + 1}. ${text}  (${place ? `${place} in ` : ""}${file})`);
  }
}
