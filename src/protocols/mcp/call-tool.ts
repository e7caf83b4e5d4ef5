import type { CallToolResult } from "@modelcontextprotocol/server";
import { errorFromUnknown, type KibitzError } from "../../errors/errors.ts";
import type { Caller, Plain } from "./caller.ts";
import { explainError } from "./explain-error.ts";
import { shaped } from "./schema.ts";
import { boardOf, turnOf } from "./text.ts";
import type { Report, Tool } from "./tool.ts";

interface CallToolOptions {
  readonly caller: Caller;
  readonly report?: Report | undefined;
  /** Aborted when the result is no longer awaited: then the call rejects with the abort reason. */
  readonly signal: AbortSignal;
  /** Logs and counts an error, before its caller reads it. */
  readonly refused: (error: KibitzError) => Promise<void>;
}

/**
 * Calls a tool. An error that its caller can fix is a result, never an error of the protocol: clients show results to their models, and
 * often only the fact that there was an error.
 */
export async function callTool(
  tool: Tool,
  args: Plain,
  { caller, report, signal, refused }: CallToolOptions,
): Promise<CallToolResult> {
  try {
    const { text, structured } = await tool.call(args, caller, report);
    const { fen } = structured;
    const whole = shaped({ turn: turnOf(fen), board: boardOf(fen), ...structured }, tool.outputSchema);
    return { content: [{ type: "text", text }], structuredContent: whole as Record<string, unknown> };
  } catch (thrown) {
    signal.throwIfAborted();
    const error = errorFromUnknown(thrown);
    await refused(error);
    const { text, meta } = await explainError(error, tool, args, caller, async (failure) => {
      signal.throwIfAborted();
      await refused(failure);
    });
    return { content: [{ type: "text", text }], isError: true, _meta: { ...meta } };
  }
}
