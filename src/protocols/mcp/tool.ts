import type { Plain } from "../../text/json.ts";
import type { Caller } from "./caller.ts";
import type { ObjectSchema } from "./schema.ts";

export interface ToolAnswer {
  readonly text: string;
  /** The properties `turn` and `board` are added later. Properties that are not in the output schema are not sent. */
  readonly structured: Plain & { readonly fen: string };
}

/** Reports the progress of a call. Each report must have a higher `progress` than the last report. */
export type Report = (step: { progress: number; total?: number; message: string }) => void;

export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  readonly outputSchema: ObjectSchema;
  /** Rejects with a KibitzError if an argument is invalid. `args` can lack required properties or have wrong types. */
  call(args: Plain, caller: Caller, report?: Report): Promise<ToolAnswer>;
  /** Converts a corrected request to arguments of the tool. Returns undefined if the tool cannot send this request. */
  argumentsOf?(request: Plain): Plain | undefined;
}
