import type { AnyDesc, DescFile } from "@bufbuild/protobuf";
import { getComments } from "@bufbuild/protoplugin";

/** The leading comment as CommonMark, with its lines joined to paragraphs. */
export function commentOf(desc: Exclude<AnyDesc, DescFile>): string {
  const text = getComments(desc).leading;
  if (text === undefined || text.trim() === "") {
    throw new Error(`${desc} has no comment, and the proto is the manual`);
  }
  return text
    .split(/\n\s*\n/)
    .map((paragraph) => paragraph.replace(/\s+/g, " ").trim())
    .join("\n\n");
}

/** Splits the comment of a declaration: the first paragraph, which is one sentence, without its full stop; and the rest. */
export function summaryOf(desc: Exclude<AnyDesc, DescFile>): {
  readonly summary: string;
  readonly details: string;
} {
  const [first = "", ...rest] = commentOf(desc).split("\n\n");
  return { summary: first.replace(/\.$/, ""), details: rest.join("\n\n") };
}
