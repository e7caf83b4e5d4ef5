import type { Plain } from "../../text/plain-text.ts";
import type { Caller } from "./caller.ts";
import type { ObjectSchema } from "./schema.ts";

export interface ToolAnswer {
  readonly text: string;
  /**
   * The answer for programs. The properties `turn` and `board` of the output schema are added later. Properties that are not in
   * the output schema are not sent.
   */
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
  /**
   * `args` may lack properties of `inputSchema`, and values may have any type. Rejects with a KibitzError that points to an
   * argument.
   */
  call(args: Plain, caller: Caller, report?: Report): Promise<ToolAnswer>;
  /** Converts a suggested request to arguments of the tool. Returns undefined if the tool cannot send this request. */
  argumentsOf?(request: Plain): Plain | undefined;
}
