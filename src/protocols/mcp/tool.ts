import type { Plain } from "../../text/plain-text.ts";
import type { Caller } from "./caller.ts";
import type { ObjectSchema } from "./schema.ts";

/** The answer of a tool. */
export interface ToolAnswer {
  /** The answer as text, for models. */
  readonly text: string;
  /**
   * The answer for programs: the properties of the tool's output schema except `turn` and `board`. Other properties are not sent.
   */
  readonly structured: Plain & { readonly fen: string };
}

/** Reports the progress of a call. `progress` must rise with every report. */
export type Report = (step: { progress: number; total?: number; message: string }) => void;

/** A tool that an agent can call. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  /** Description of the tool, for the model that chooses a tool. */
  readonly description: string;
  /** JSON Schema 2020-12 of the arguments, which are an object. */
  readonly inputSchema: ObjectSchema;
  readonly outputSchema: ObjectSchema;
  /**
   * Calls the tool.
   *
   * @param args some of the properties of `inputSchema`, with values of any type
   * @throws KibitzError whose violations point into the arguments
   */
  call(args: Plain, caller: Caller, report?: Report): Promise<ToolAnswer>;
  /**
   * Converts a request that the service has suggested into arguments of this tool. Returns undefined if the tool cannot send the
   * request.
   */
  argumentsOf?(request: Plain): Plain | undefined;
}
