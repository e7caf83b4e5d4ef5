import { errorFromUnknown, type KibitzError } from "../../errors/errors.ts";
import type { Caller, Plain } from "./caller.ts";
import { errorResult, type ToolResult, textBlock } from "./result.ts";
import { tellError } from "./tell-error.ts";
import type { Report, Tool } from "./tool.ts";

export interface CallToolOptions {
  readonly caller: Caller;
  readonly report?: Report | undefined;
  /** Aborted when nobody waits for the result any more: then the call rejects with its reason. */
  readonly signal: AbortSignal;
  /** Told of what a call was refused for, or failed with, before it is told to its caller. */
  readonly refused: (error: KibitzError) => Promise<void>;
}

/**
 * Calls a tool. What its caller can mend is a result that says so, never an error of the protocol: a model sees the one,
 * and of the other often only that there was one.
 */
export async function callTool(
  tool: Tool,
  args: Plain,
  { caller, report, signal, refused }: CallToolOptions,
): Promise<ToolResult> {
  try {
    const { text, structured } = await tool.call(args, caller, report);
    return { content: [textBlock(text)], structuredContent: { ...structured } };
  } catch (thrown) {
    signal.throwIfAborted();
    const error = errorFromUnknown(thrown);
    await refused(error);
    const { text, meta } = await tellError(error, tool, args, caller);
    return errorResult(text, meta);
  }
}
