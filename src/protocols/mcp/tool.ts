import type { Plain } from "../../text/plain-text.ts";
import type { Caller } from "./caller.ts";
import type { ObjectSchema } from "./schema.ts";

export interface ToolAnswer {
  readonly text: string;
  /** The answer for programs: the properties of the output schema except `turn` and `board`. Others are not sent. */
  readonly structured: Plain & { readonly fen: string };
}

/** Reports the progress of a call. `progress` must rise with every report. */
export type Report = (step: { progress: number; total?: number; message: string }) => void;

export interface Tool {
  readonly name: string;
  readonly title: string;
  /** Description of the tool, for the model that chooses a tool. */
  readonly description: string;
  readonly inputSchema: ObjectSchema;
  readonly outputSchema: ObjectSchema;
  /** `args` are some of the properties of `inputSchema`, with values of any type. Throws KibitzErrors that point into them. */
  call(args: Plain, caller: Caller, report?: Report): Promise<ToolAnswer>;
  /** Converts a suggested request into arguments, or undefined if the tool cannot send it. */
  argumentsOf?(request: Plain): Plain | undefined;
}
