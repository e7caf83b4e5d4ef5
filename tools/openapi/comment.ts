import type { AnyDesc, DescFile } from "@bufbuild/protobuf";
import { getComments } from "@bufbuild/protoplugin";

/** Returns the leading comment as CommonMark. Each paragraph becomes one line. */
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

/** The summary is the first paragraph without its full stop. The details are the other paragraphs. */
export function summaryOf(desc: Exclude<AnyDesc, DescFile>): {
  readonly summary: string;
  readonly details: string;
} {
  const [first = "", ...rest] = commentOf(desc).split("\n\n");
  return { summary: first.replace(/\.$/, ""), details: rest.join("\n\n") };
}
