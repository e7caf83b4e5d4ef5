import type { Plain } from "./caller.ts";

/** A block of the content of a result. */
export interface TextBlock {
  readonly type: "text";
  readonly text: string;
}

export function textBlock(text: string): TextBlock {
  return { type: "text", text };
}

/** The result of a tool call, by the specification. */
export interface ToolResult {
  readonly [key: string]: unknown;
  readonly content: TextBlock[];
  readonly structuredContent?: Record<string, unknown>;
  readonly isError?: true;
  readonly _meta?: Record<string, unknown>;
}

export function errorResult(text: string, meta: Plain): ToolResult {
  return { content: [textBlock(text)], isError: true, _meta: { ...meta } };
}
